import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import type { FaultPlace, LogEvent } from "./log_names.ts";

/** Writes one line of JSON, which contains only ids, states and counts. Workers Logs indexes the fields. */
export function log(event: LogEvent, fields: Record<string, string | number | undefined>) {
  // biome-ignore lint/suspicious/noConsole: the console is where Workers Logs reads from
  console.log(JSON.stringify({ event, ...fields }));
}

/** Logs the route, not the path, which can contain secrets or personal data. The duration covers only I/O. */
export const logRequest = createMiddleware(async (c, next) => {
  const started = Date.now();
  await next();
  const caller: { organization_id: number; api_client_id: number } | undefined = c.get("context")?.caller;
  log("request", {
    request_id: c.get("requestId"),
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    duration_ms: Date.now() - started,
    organization_id: caller?.organization_id,
    api_client_id: caller?.api_client_id,
  });
});

/** Logs where an error happened. Messages can contain what a caller sent, so they are left out, except for harmless ones. */
export function logFault(
  where: { [Place in FaultPlace]?: string | number } & { shard?: number },
  error: unknown,
) {
  const causes = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { name, message } = cause;
    const isHarmless = message.startsWith("D1_ERROR") || name === "SettingsError";
    causes.push({ name, message: isHarmless ? message : undefined, stack: framesOf(cause) });
  }
  const event: LogEvent = "fault";
  // biome-ignore lint/suspicious/noConsole: the console is where Workers Logs reads from
  console.error(JSON.stringify({ event, ...where, causes }));
}

function framesOf({ stack = "", message }: Error): string[] {
  return stack
    .slice(message === "" ? 0 : stack.lastIndexOf(message) + message.length)
    .split("\n")
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
}

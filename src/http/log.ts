import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import type { Caller } from "../context.ts";

/** One line of JSON, ids and states only: Workers Logs indexes its fields. */
export function log(event: string, fields: Record<string, string | number | undefined>) {
  // biome-ignore lint/suspicious/noConsole: the console is where Workers Logs reads from
  console.log(JSON.stringify({ event, ...fields }));
}

/**
 * One line for each request: which route, not which path, since a path can hold what is a secret or personal.
 * Milliseconds are those that Workers' clock shows, which stands still between I/O.
 */
export const logRequest = createMiddleware(async (c, next) => {
  const started = Date.now();
  await next();
  const caller: Caller | undefined = c.get("context")?.caller;
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

/**
 * Logs a fault of our own, and where it was: the request's id, the queue's message, the chore.
 *
 * Messages can hold what a caller sent (a failed query's parameters, the text that did not parse), so they stay
 * out, except those of D1, which name tables and columns, and those about settings, which name settings.
 */
export function logFault(where: Record<string, string | number | undefined>, error: unknown) {
  const causes = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    causes.push({
      name: cause.name,
      message: isHarmless(cause) ? cause.message : undefined,
      stack: framesOf(cause),
    });
  }
  // biome-ignore lint/suspicious/noConsole: the console is where Workers Logs reads from
  console.error(JSON.stringify({ event: "fault", ...where, causes }));
}

/** The stack without the message at its head, which can hold lines of its own. */
function framesOf({ stack = "", message }: Error): string[] {
  return stack
    .slice(message === "" ? 0 : stack.lastIndexOf(message) + message.length)
    .split("\n")
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
}

function isHarmless({ name, message }: Error): boolean {
  return message.startsWith("D1_ERROR") || name === "SettingsError";
}

import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { isLoopback } from "../http/loopback.ts";

/** Longer than any request takes, in milliseconds. */
const TIMEOUT = 30_000;

/** Calls a service's platform API. Each failure is an error with one line that says what to do. */
export function platformClient(url: string) {
  const { token, source } = requireToken(url);
  return {
    /**
     * Sends a body, and returns that of the response.
     *
     * @param texts what to say instead of some of the service's errors
     */
    async post<Made>(path: string, body: object, texts: Record<string, string> = {}): Promise<Made> {
      const response = await fetch(`${url}/api/platform${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT),
      }).catch((error) => {
        throw new Error(`${url} cannot be reached: ${causeOf(error)}. ${hintFor(url)}`);
      });
      const answer = (await response.json().catch(() => ({}))) as Made & { error?: string };
      if (response.status === 201) return answer;
      throw new Error(refusalText(response, answer.error, source, texts));
    },
  };
}

function requireToken(url: string): { token: string; source: string } {
  const fromEnvironment = process.env.PLATFORM_API_TOKEN;
  if (fromEnvironment)
    return { token: fromEnvironment, source: "the environment variable PLATFORM_API_TOKEN" };
  const isLocal = isLoopback(new URL(url).hostname);
  const file = isLocal && existsSync(".dev.vars") ? parseEnv(readFileSync(".dev.vars", "utf8")) : {};
  if (file.PLATFORM_API_TOKEN) return { token: file.PLATFORM_API_TOKEN, source: ".dev.vars" };
  throw new Error(
    `Set the environment variable PLATFORM_API_TOKEN to the platform's token of ${url}.` +
      (isLocal ? " Or run `npm run dev` once, which makes .dev.vars." : ""),
  );
}

function refusalText(
  { status, headers }: Response,
  error: string | undefined,
  source: string,
  texts: Record<string, string>,
): string {
  if (status === 401) return `The service does not accept the token from ${source}.`;
  if (status >= 300 && status < 400)
    return `The service is elsewhere: use the address ${headers.get("Location")}`;
  if (status >= 500)
    return `The service failed with ${status}. Its log says why, under the request id ${headers.get("X-Request-Id")}.`;
  if (error === undefined) return `The address answers with ${status}, and not as this service does.`;
  return texts[error] ?? `The service refused with ${status}: ${error}`;
}

export function causeOf(error: Error): string {
  if (error.name === "TimeoutError") return `no response within ${TIMEOUT / 1000} seconds`;
  const { code, message } = (error.cause ?? error) as { code?: string; message: string };
  return code ?? message;
}

const hintFor = (url: string) =>
  isLoopback(new URL(url).hostname) ? "Start it with `npm run dev`." : "Check the address and the network.";

import type { Context as HonoContext } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { log, logFault } from "./log.ts";

/** An answer other than success. The message goes to the caller as `{"error": message}`. */
export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly headers: Record<string, string>;
  /** For the log, where the caller is not to know: a word or two of our own, nothing that was sent to us. */
  readonly reason: string | undefined;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    { headers = {}, reason }: { headers?: Record<string, string>; reason?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.reason = reason;
  }
}

/** What the path names is not there, or not within the caller's reach: both look the same. */
export const notFound = (what: string) => new ApiError(404, `${what} not found`);

/** What the body asks for cannot be done. */
export const unprocessable = (message: string) => new ApiError(422, message);

export function handleError(error: Error, c: HonoContext) {
  if (error instanceof ApiError) {
    const { status, message, headers, reason } = error;
    if (reason) log("refused", { request_id: c.get("requestId"), status, reason });
    return c.json({ error: message }, status, headers);
  }
  // Hono's validator refuses a body that cannot be parsed with an exception of its own.
  if (error instanceof HTTPException && error.status === 400)
    return c.json({ error: "Request body is not valid JSON" }, 400);
  logFault({ request_id: c.get("requestId") }, error);
  return c.json({ error: "Internal server error" }, 500);
}

import type { Context as HonoContext } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { log, logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

/** A refusal. The caller gets its message as `{"error": message}`. */
export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly headers: Record<string, string>;
  /** Only for the log, if the caller must not know it. */
  readonly reason: RefusalReason | undefined;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    { headers = {}, reason }: { headers?: Record<string, string>; reason?: RefusalReason } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.reason = reason;
  }
}

/** Something in the path does not exist, or the caller has no access to it: both look the same. */
export const notFound = (what: string) => new ApiError(404, `${what} not found`);

/** The body is understood, but what it asks for cannot be done. */
export const unprocessable = (message: string) => new ApiError(422, message);

export function handleError(error: Error, c: HonoContext) {
  if (error instanceof ApiError) {
    const { status, message, headers, reason } = error;
    if (reason) log("refused", { request_id: c.get("requestId"), status, reason });
    return c.json({ error: message }, status, headers);
  }
  // For a body that cannot be parsed, Hono's validator throws its own exception.
  if (error instanceof HTTPException && error.status === 400)
    return c.json({ error: "Request body is not valid JSON" }, 400);
  logFault({ request_id: c.get("requestId") }, error);
  return c.json({ error: "Internal server error" }, 500);
}

import type { Context as HonoContext } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isCausedBy, isMoving } from "../database/causes.ts";
import { WriteConflict } from "../database/decide_and_write.ts";
import { DatabaseTimeout } from "../database/in_time.ts";
import { BODY_RETRY_AFTER, BODY_TIMEOUT, DATABASE_RETRY_AFTER, WRITE_RETRY_AFTER } from "../lifetimes.ts";
import { MIN_BODY_RATE } from "../limits.ts";
import { grouped, KIB, SECOND } from "../units.ts";
import { log, logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

export const ERROR_CODE = "Error-Code";

/** A refusal. The caller gets its message as `{"error": message}`, and its code in the header `Error-Code`. */
export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  /** For programs. It stays the same when the message is improved. */
  readonly code: string;
  readonly headers: Record<string, string>;
  /** Only for the log: the caller must not learn it. */
  readonly reason: RefusalReason | undefined;

  constructor(
    status: ContentfulStatusCode,
    code: string,
    message: string,
    { headers = {}, reason }: { headers?: Record<string, string>; reason?: RefusalReason } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.reason = reason;
  }
}

/** Something in the path does not exist, or the caller has no access to it. Both get the same response. */
export const notFound = (what: string) => new ApiError(404, "not_found", `${what} not found`);

export const unprocessable = (code: string, message: string) => new ApiError(422, code, message);

const VALIDATION_FAILED = "validation_failed";

export const invalidBody = (message: string) => unprocessable(VALIDATION_FAILED, message);

export const invalidQuery = (message: string) => new ApiError(400, VALIDATION_FAILED, message);

/** No route has the path, or an id in it cannot exist. */
export const noSuchPath = () => new ApiError(404, "not_found", "Not found");

export const methodNotAllowed = (allowed: string[]) => {
  const methods = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return new ApiError(
    405,
    "method_not_allowed",
    `Method not allowed. This path supports ${new Intl.ListFormat("en").format(methods)}.`,
    { headers: { Allow: methods.join(", ") } },
  );
};

export const notJson = () => new ApiError(400, "malformed_json", "Request body is not valid JSON");

/** @param limit in bytes */
export const bodyTooLarge = (limit: number) =>
  new ApiError(413, "body_too_large", `The request body is larger than ${grouped(limit)} bytes`);

export const unsupportedEncoding = () =>
  new ApiError(415, "unsupported_encoding", "The body must be sent unencoded, without a Content-Encoding");

export const bodyTooSlow = () =>
  new ApiError(
    408,
    "body_timeout",
    `The request body did not arrive within ${BODY_TIMEOUT / SECOND} seconds, or came slower than ${MIN_BODY_RATE / KIB} KiB a second. Send the request again.`,
  );

/** @param retryAfter in seconds */
const unavailable = (code: RefusalReason, message: string, retryAfter: number) =>
  new ApiError(503, code, message, { headers: { "Retry-After": String(retryAfter) }, reason: code });

export const tooManyBodies = () =>
  unavailable(
    "too_many_bodies",
    "Too many other requests with large bodies are not finished: try again, with a Content-Length",
    BODY_RETRY_AFTER,
  );

export const internalError = () => new ApiError(500, "internal_error", "Internal server error");

export const writeConflict = () =>
  unavailable(
    "write_conflict",
    "The record is being changed by many requests at once: try again",
    WRITE_RETRY_AFTER,
  );

export const databaseUnavailable = () =>
  unavailable(
    "database_unavailable",
    "The database is not available at the moment: try again",
    DATABASE_RETRY_AFTER,
  );

export const organizationMoves = () =>
  unavailable(
    "organization_moves",
    "The organization is being moved to another database: try again",
    DATABASE_RETRY_AFTER,
  );

/** D1's temporary errors, and the lock of a local database. A database reset for its memory or CPU time is not temporary. */
const PASSING =
  /^D1_ERROR: .*(overloaded|caused object to be reset|reset because its code was updated|timed out|network connection lost|transient issue|processing a long-running|database is locked)/i;

export const isPassing = (error: unknown): boolean =>
  isMoving(error) ||
  isCausedBy(error, (cause) => cause instanceof DatabaseTimeout || PASSING.test(cause.message));

export function handleError(error: Error, c: HonoContext) {
  const refusal = toApiError(error);
  const { status, reason } = refusal;
  if (!(error instanceof ApiError || error instanceof WriteConflict || isMoving(error)))
    logFault({ request_id: c.get("requestId") }, error);
  if (reason) log("refused", { request_id: c.get("requestId"), status, reason });
  return refuse(c, refusal);
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof WriteConflict) return writeConflict();
  if (isMoving(error)) return organizationMoves();
  return isPassing(error) ? databaseUnavailable() : internalError();
}

const refuse = (c: HonoContext, { status, code, message, headers }: ApiError) =>
  c.json({ error: message }, status, { ...headers, [ERROR_CODE]: code });

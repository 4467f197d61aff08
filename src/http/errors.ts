import type { Context as HonoContext } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isCausedBy, isMoving } from "../database/causes.ts";
import { WriteConflict } from "../database/decide_and_write.ts";
import { DatabaseTimeout } from "../database/in_time.ts";
import { BODY_TIMEOUT, DATABASE_RETRY_AFTER, WRITE_RETRY_AFTER } from "../lifetimes.ts";
import { SECOND } from "../units.ts";
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

/** A path that no route has, or that no id can have. */
export const noSuchPath = () => new ApiError(404, "Not found");

export const notJson = () => new ApiError(400, "Request body is not valid JSON");

/** @param limit in bytes */
export const bodyTooLarge = (limit: number) =>
  new ApiError(413, `Request body is larger than ${limit} bytes`);

export const bodyTooSlow = () =>
  new ApiError(
    408,
    `Request body did not arrive within ${BODY_TIMEOUT / SECOND} seconds: send it again, all at once`,
  );

/** Says nothing of the cause: that is in the log. */
export const internalError = () => new ApiError(500, "Internal server error");

/** Others change what the request wants to change, and it was decided again for as long as a caller waits. */
export const writeConflict = () =>
  new ApiError(503, "The record is being changed by many requests at once: try again", {
    headers: { "Retry-After": String(WRITE_RETRY_AFTER) },
    reason: "write_conflict",
  });

/** D1 is overloaded or cannot be reached: that passes, and its cause is in the log. */
export const databaseUnavailable = () =>
  new ApiError(503, "The database is not available at the moment: try again", {
    headers: { "Retry-After": String(DATABASE_RETRY_AFTER) },
    reason: "database_unavailable",
  });

/** It passes within a second, or so: see src/docs/databases.md. */
export const organizationMoves = () =>
  new ApiError(503, "The organization is being moved to another database: try again", {
    headers: { "Retry-After": String(WRITE_RETRY_AFTER) },
    reason: "organization_moves",
  });

/**
 * D1's errors that pass by themselves, such as those during an import or export. A local database is locked while another process
 * writes. The error of one that was reset for its memory or CPU time stays: it was asked too much.
 */
const PASSING =
  /^D1_ERROR: .*(overloaded|caused object to be reset|reset because its code was updated|timed out|network connection lost|transient issue|processing a long-running|database is locked)/i;

/** True for a fault of D1 that passes by itself. */
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

const refuse = (c: HonoContext, { status, message, headers }: ApiError) =>
  c.json({ error: message }, status, headers);

import { ApiError, notFound } from "../../http/errors.ts";
import { BUCKET_RETRY_AFTER } from "../../lifetimes.ts";

export const sealedDayNotFound = () => notFound("Sealed day of the access log");

/** A temporary failure of the bucket. The log has the cause. */
export const fileUnavailable = () =>
  new ApiError(503, "file_unavailable", "The file cannot be read at the moment: try again", {
    headers: { "Retry-After": String(BUCKET_RETRY_AFTER) },
    reason: "file_unavailable",
  });

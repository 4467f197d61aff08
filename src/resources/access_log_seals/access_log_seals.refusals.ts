import { ApiError, notFound } from "../../http/errors.ts";
import { BUCKET_RETRY_AFTER } from "../../lifetimes.ts";

export const sealsNotFound = () => notFound("Access log seals");

export const sealedDayNotFound = () => notFound("Sealed day of the access log");

/** The bucket is not reached for a moment: that passes, and its cause is in the log. */
export const fileUnavailable = () =>
  new ApiError(503, "The file cannot be read at the moment: try again", {
    headers: { "Retry-After": String(BUCKET_RETRY_AFTER) },
    reason: "file_unavailable",
  });

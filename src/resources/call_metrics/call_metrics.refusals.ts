import { ApiError, notFound } from "../../http/errors.ts";
import { MAX_METRICS_DAYS } from "../../limits.ts";

/** The user whose metrics a query asks for. */
export const metricsUserNotFound = () => notFound("User");

/** Where a range ends whose end is left out, or given. */
type RangeEnd = "today" | "date_end";

export const metricsRangeReversed = () => new ApiError(400, "date_start: must not be after date_end");

export const metricsRangeTooLong = (end: RangeEnd) =>
  new ApiError(
    400,
    `date_start: the range up to ${end} must have at most ${MAX_METRICS_DAYS} days, both ends included`,
  );

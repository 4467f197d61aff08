import * as z from "zod";
import type { ClientContext } from "../context.ts";
import { type BoundQuery, runBatch } from "../database/queries.ts";
import { WHOLE_ORGANIZATION } from "../database/schema.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../limits.ts";
import { lazily } from "../memory.ts";
import { memberById } from "../resources/organization_users/organization_users.sql.ts";
import { DAY } from "../units.ts";
import { dateOf } from "./dates.ts";
import { ApiError, notFound } from "./errors.ts";
import { day, idAsText } from "./wire.ts";

/* What the metrics have in common: the dates that are asked for, and whose metrics. */

export const metricsQuery = lazily(() =>
  z.object({ date_start: day().optional(), date_end: day().optional(), user_id: idAsText().optional() }),
);

export type MetricsQuery = z.output<ReturnType<typeof metricsQuery>>;

/** A map by date: it has as many dates as a range can have. */
export const byDate = (value: z.ZodNumber) =>
  z.record(z.iso.date(), value).meta({ maxProperties: MAX_METRICS_DAYS });

/** Whose metrics. */
export interface MetricsSubject {
  organization_id: number;
  /** Or WHOLE_ORGANIZATION. */
  organization_user_id: number;
}

/** Dates as `YYYY-MM-DD`, both included. */
export interface MetricsRange {
  start: string;
  end: string;
}

export const metricsUserNotFound = () => notFound("User");

/** Where a range ends whose end is left out, or given. */
type RangeEnd = "today" | "date_end";

export const metricsRangeReversed = () => new ApiError(400, "date_start: must not be after date_end");

export const metricsRangeTooLong = (end: RangeEnd) =>
  new ApiError(
    400,
    `date_start: the range up to ${end} must have at most ${MAX_METRICS_DAYS} days, both ends included`,
  );

/**
 * The dates asked for, both included, with what is left out filled in: the last 30 days; from a start to today, or, as it is
 * tomorrow already east of UTC, to that day itself; the 30 days up to an end.
 *
 * @throws ApiError 400 if the range is reversed or too long
 */
function metricsRange(now: number, { date_start, date_end }: MetricsQuery): MetricsRange {
  const from = date_start === undefined ? undefined : Date.parse(date_start);
  const end = date_end === undefined ? Math.max(startOfDay(now), from ?? 0) : Date.parse(date_end);
  const start = from ?? end - (DEFAULT_METRICS_DAYS - 1) * DAY;
  const last = date_end === undefined ? "today" : "date_end";
  if (start > end) throw metricsRangeReversed();
  if (end - start >= MAX_METRICS_DAYS * DAY) throw metricsRangeTooLong(last);
  return { start: dateOf(start), end: dateOf(end) };
}

/**
 * Reads the metrics of a range of dates: of one user, or of the whole organization.
 *
 * @throws ApiError as above, and 404 if the organization has no such user
 */
export async function readMetrics<Daily>(
  { db, now, caller }: ClientContext,
  query: MetricsQuery,
  daily: (of: MetricsSubject & MetricsRange) => BoundQuery<Daily>,
): Promise<Daily[]> {
  const { organization_id } = caller;
  const { user_id } = query;
  const range = metricsRange(now, query);
  const [[member], metrics] = await runBatch(db, [
    memberById({ organization_id, id: user_id ?? caller.organization_user_id }),
    daily({ organization_id, organization_user_id: user_id ?? WHOLE_ORGANIZATION, ...range }),
  ]);
  if (!member) throw metricsUserNotFound();
  return metrics;
}

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY;

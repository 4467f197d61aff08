import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import { DAY, DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import type { callMetricsQuery, DailyMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics, type MetricsRange, metricsOwner } from "./call_metrics.sql.ts";

/** One row for each date of the range on which calls started; for one user or for the whole organization. */
export async function listCallMetrics(
  { db, now, caller: { organization_id } }: ClientContext,
  { date_start, date_end, user_id }: z.output<typeof callMetricsQuery>,
): Promise<DailyMetrics[]> {
  const subject = { organization_id, user_id: user_id ?? null };
  const [[owner], metrics] = await runBatch(db, [
    metricsOwner(subject),
    dailyMetrics({ ...subject, ...metricsRange(now, date_start, date_end) }),
  ]);
  if (user_id !== undefined && !owner) throw notFound("User");
  return metrics;
}

/**
 * The dates asked for, both included, with what is left out filled in: the last 30 days; from a start to today; the
 * 30 days up to an end.
 *
 * @throws ApiError 400 if the range is reversed or too long
 */
function metricsRange(now: number, date_start?: string, date_end?: string): MetricsRange {
  const end = date_end === undefined ? startOfDay(now) : Date.parse(date_end);
  const start = date_start === undefined ? end - (DEFAULT_METRICS_DAYS - 1) * DAY : Date.parse(date_start);
  const last = date_end === undefined ? "today" : "date_end";
  if (start > end) throw new ApiError(400, `date_start: must not be after ${last}`);
  if (end - start >= MAX_METRICS_DAYS * DAY)
    throw new ApiError(
      400,
      `date_start: the range up to ${last} must have at most ${MAX_METRICS_DAYS} days, both ends included`,
    );
  return { start: toDay(start), end: toDay(end) };
}

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY;

const toDay = (time: number) => new Date(time).toISOString().slice(0, 10);

import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { WHOLE_ORGANIZATION } from "../../database/schema.ts";
import { dateOf } from "../../http/dates.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import { DAY } from "../../units.ts";
import { memberById } from "../organization_users/organization_users.sql.ts";
import { metricsRangeReversed, metricsRangeTooLong, metricsUserNotFound } from "./call_metrics.refusals.ts";
import type { callMetricsQuery, DailyMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics, type MetricsRange } from "./call_metrics.sql.ts";

/** One row for each date of the range on which calls started; for one user or for the whole organization. */
export async function listCallMetrics(
  { db, now, caller }: ClientContext,
  { date_start, date_end, user_id }: z.output<ReturnType<typeof callMetricsQuery>>,
): Promise<DailyMetrics[]> {
  const { organization_id } = caller;
  const range = metricsRange(now, date_start, date_end);
  const [[member], metrics] = await runBatch(db, [
    memberById({ organization_id, id: user_id ?? caller.organization_user_id }),
    dailyMetrics({ organization_id, organization_user_id: user_id ?? WHOLE_ORGANIZATION, ...range }),
  ]);
  if (!member) throw metricsUserNotFound();
  return metrics;
}

/**
 * The dates asked for, both included, with what is left out filled in: the last 30 days; from a start to today, or, as it is
 * tomorrow already east of UTC, to that day itself; the 30 days up to an end.
 *
 * @throws ApiError 400 if the range is reversed or too long
 */
function metricsRange(now: number, date_start?: string, date_end?: string): MetricsRange {
  const from = date_start === undefined ? undefined : Date.parse(date_start);
  const end = date_end === undefined ? Math.max(startOfDay(now), from ?? 0) : Date.parse(date_end);
  const start = from ?? end - (DEFAULT_METRICS_DAYS - 1) * DAY;
  const last = date_end === undefined ? "today" : "date_end";
  if (start > end) throw metricsRangeReversed();
  if (end - start >= MAX_METRICS_DAYS * DAY) throw metricsRangeTooLong(last);
  return { start: dateOf(start), end: dateOf(end) };
}

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY;

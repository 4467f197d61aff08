import * as z from "zod";
import { WHOLE_ORGANIZATION } from "../../calls/call_metrics/call_metrics.table.ts";
import type { ClientContext } from "../../context.ts";
import { type BoundQuery, runBatch } from "../../database/queries.ts";
import { dateOf } from "../../http/dates.ts";
import { invalidQuery, notFound } from "../../http/errors.ts";
import { day, idAsText } from "../../http/wire.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { DAY, grouped } from "../../units.ts";
import { memberById } from "../members/members.sql.ts";

export const metricsQuery = lazily(() =>
  z.object({ date_start: day().optional(), date_end: day().optional(), user_id: idAsText().optional() }),
);

export type MetricsQuery = z.output<ReturnType<typeof metricsQuery>>;

export const byDate = (value: z.ZodNumber) =>
  z.record(z.iso.date(), value).meta({ maxProperties: MAX_METRICS_DAYS });

export interface MetricsSubject {
  organization_id: number;
  /** WHOLE_ORGANIZATION for the metrics of all users together. */
  organization_user_id: number;
}

/** Dates as `YYYY-MM-DD`, both included. */
export interface MetricsRange {
  start: string;
  end: string;
}

export const metricsUserNotFound = () => notFound("User");

export const metricsRangeReversed = () => invalidQuery("date_start: must not be after date_end");

export const metricsRangeTooLong = (end: "today" | "date_end") =>
  invalidQuery(
    `date_start: the range up to ${end} must have at most ${grouped(MAX_METRICS_DAYS)} days, both ends included`,
  );

/**
 * By default, the last 30 days. A start later than today is the end too: east of UTC, it is already tomorrow.
 *
 * @throws ApiError 400 if the range is reversed or too long
 */
function metricsRange(now: number, { date_start, date_end }: MetricsQuery): MetricsRange {
  const from = date_start === undefined ? undefined : Date.parse(date_start);
  const end = date_end === undefined ? Math.max(now - (now % DAY), from ?? 0) : Date.parse(date_end);
  const start = from ?? end - (DEFAULT_METRICS_DAYS - 1) * DAY;
  if (start > end) throw metricsRangeReversed();
  if (end - start >= MAX_METRICS_DAYS * DAY)
    throw metricsRangeTooLong(date_end === undefined ? "today" : "date_end");
  return { start: dateOf(start), end: dateOf(end) };
}

/** @throws ApiError 400 if the range is reversed or too long, 404 if the organization has no such user */
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

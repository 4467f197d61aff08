import { and, asc, between, eq, gt, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { callDailyMetrics, organizationUsers, WHOLE_ORGANIZATION } from "../../database/schema.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import { DAY, DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import type { callMetricsQuery, DailyMetrics } from "./call_metrics.schemas.ts";

/** One row for each date of the range with calls, by the date that they started on; for one user or for all. */
export async function listCallMetrics(
  { db, now, caller }: ClientContext,
  { date_start, date_end, user_id }: z.output<typeof callMetricsQuery>,
): Promise<DailyMetrics[]> {
  const { start, end } = metricsRange(now, date_start, date_end);
  const member = and(
    eq(organizationUsers.organization_id, caller.organization_id),
    eq(organizationUsers.user_id, user_id ?? 0),
  );
  const subject =
    user_id === undefined
      ? sql`${WHOLE_ORGANIZATION}`
      : sql`(select ${organizationUsers.id} from ${organizationUsers} where ${member})`;
  const [members, rows] = await db.batch([
    db.select({ id: organizationUsers.id }).from(organizationUsers).where(member),
    db
      .select()
      .from(callDailyMetrics)
      .where(
        and(
          eq(callDailyMetrics.organization_id, caller.organization_id),
          eq(callDailyMetrics.organization_user_id, subject),
          between(callDailyMetrics.date, start, end),
          // What is left where the last call of a date was moved away.
          gt(callDailyMetrics.total_calls, 0),
        ),
      )
      .orderBy(asc(callDailyMetrics.date)),
  ]);
  if (user_id !== undefined && members.length === 0) throw notFound("User");
  return rows;
}

/**
 * The dates asked for, both included, with what is left out filled in: the last 30 days; from a start to today,
 * though not beyond 366 days; the 30 days up to an end.
 *
 * @throws ApiError 400 where the range is reversed or too long
 */
function metricsRange(now: number, date_start?: string, date_end?: string) {
  const today = startOfDay(now);
  const start = date_start === undefined ? undefined : Date.parse(date_start);
  const end =
    date_end !== undefined
      ? Date.parse(date_end)
      : start === undefined
        ? today
        : Math.min(today, start + (MAX_METRICS_DAYS - 1) * DAY);
  const first = start ?? end - (DEFAULT_METRICS_DAYS - 1) * DAY;
  if (first > end)
    throw new ApiError(400, `date_start: must not be after ${date_end ? "date_end" : "today"}`);
  if (end - first >= MAX_METRICS_DAYS * DAY)
    throw new ApiError(
      400,
      `date_start, date_end: must be at most ${MAX_METRICS_DAYS} days apart, both included`,
    );
  return { start: toDay(first), end: toDay(end) };
}

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY;

const toDay = (time: number) => new Date(time).toISOString().slice(0, 10);

import * as z from "zod";
import { ALL_ROOMS, WHOLE_ORGANIZATION } from "../../calls/call_metrics/call_metrics.table.ts";
import type { ClientContext } from "../../context.ts";
import { type BoundQuery, runBatch, runFirst } from "../../database/queries.ts";
import { dateOf } from "../../http/dates.ts";
import { invalidQuery, notFound } from "../../http/errors.ts";
import { day, idAsText, pathId } from "../../http/wire.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import { DAY, grouped } from "../../units.ts";
import { timeZoneOf } from "../organizations/organizations.sql.ts";
import { type Day, datesIn, sumByLocalDate } from "./local_days.ts";
import { type DailyMetrics, memberIfRoom } from "./metrics.sql.ts";

export const NOT_LOCAL = "must be local, or omitted for UTC dates";

export const metricsQuery = () =>
  z.object({
    date_start: day().optional(),
    date_end: day().optional(),
    user_id: idAsText().optional(),
    waiting_room_id: pathId().optional(),
    days: z.enum(["local"], { error: NOT_LOCAL }).optional(),
  });

export type MetricsQuery = z.output<ReturnType<typeof metricsQuery>>;

export const byDate = (value: z.ZodNumber) =>
  z.record(z.iso.date(), value).meta({ maxProperties: MAX_METRICS_DAYS });

export const metricsUserNotFound = () => notFound("User");

export const metricsRoomNotFound = (user_id?: number) =>
  notFound(user_id === undefined ? "Waiting room" : "User or waiting room");

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
function metricsRange(today: number, { date_start, date_end }: MetricsQuery) {
  const from = date_start === undefined ? undefined : Date.parse(date_start);
  const end = date_end === undefined ? Math.max(today, from ?? 0) : Date.parse(date_end);
  const start = from ?? end - (DEFAULT_METRICS_DAYS - 1) * DAY;
  if (start > end) throw metricsRangeReversed();
  if (end - start >= MAX_METRICS_DAYS * DAY)
    throw metricsRangeTooLong(date_end === undefined ? "today" : "date_end");
  return (margin: number) => ({ start: dateOf(start - margin), end: dateOf(end + margin) });
}

/**
 * With `days=local`, first reads the time zone.
 *
 * @throws ApiError 400 if the range is reversed or too long, 404 if the organization has no such user or room
 */
export async function readMetrics<Count extends string>(
  { db, now, caller }: ClientContext,
  query: MetricsQuery,
  { daily, quarters, counts }: DailyMetrics<Count>,
): Promise<Day<Count>[]> {
  const { organization_id } = caller;
  const { user_id, waiting_room_id = ALL_ROOMS, days } = query;
  const zone = days && (await runFirst(db, timeZoneOf({ id: organization_id })));
  const dateAt = zone ? datesIn(zone.time_zone ?? "UTC") : dateOf;
  const range = metricsRange(Date.parse(dateAt(now)), query);
  const subject = { organization_id, organization_user_id: user_id ?? WHOLE_ORGANIZATION, waiting_room_id };
  const known = memberIfRoom({ ...subject, organization_user_id: user_id ?? caller.organization_user_id });
  async function read<Counted>(metrics: BoundQuery<Counted>): Promise<Counted[]> {
    const [[isKnown], rows] = await runBatch(db, [known, metrics]);
    if (!isKnown) throw waiting_room_id === ALL_ROOMS ? metricsUserNotFound() : metricsRoomNotFound(user_id);
    return rows;
  }
  const { start, end } = range(0);
  if (!zone) return read(daily({ ...subject, start, end }));
  // The UTC dates that the local dates of the range can overlap.
  const rows = await read(quarters({ ...subject, ...range(DAY) }));
  return sumByLocalDate(rows, counts, dateAt).filter(({ date }) => start <= date && date <= end);
}

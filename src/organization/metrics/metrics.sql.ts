import { and, asc, between, eq, gt, or } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { callDailyMetrics } from "../../calls/call_metrics/call_metrics.table.ts";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import type { visitDailyMetrics } from "../../rooms/visits/visits.table.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";
import { organizationUsers } from "../members/organization_users.table.ts";
import type { Day } from "./local_days.ts";

export interface MetricsSubject {
  organization_id: number;
  /** WHOLE_ORGANIZATION for the metrics of all users together. */
  organization_user_id: number;
  /** ALL_ROOMS for the metrics of all rooms together. */
  waiting_room_id: number;
}

/** Dates as `YYYY-MM-DD`, both included. */
export interface MetricsRange {
  start: string;
  end: string;
}

export interface DailyMetrics<Count extends string> {
  daily: PreparedQuery<MetricsSubject & MetricsRange, Day<Count>>;
  /** Each row as sums by quarter hour. */
  quarters: PreparedQuery<MetricsSubject & MetricsRange, { quarters: string }>;
  counts: Count[];
}

type Wanted = Placeholders<MetricsSubject & MetricsRange>;

/** @param counts in the order that `quarters` has them */
export function dailyMetricsOf<Count extends string>(
  table: typeof callDailyMetrics | typeof visitDailyMetrics,
  counts: Record<Count, SQLiteColumn>,
): DailyMetrics<Count> {
  const { date } = table;
  const columns: SQLiteColumn[] = Object.values(counts);
  // A date whose last call or visit was moved to another date keeps its row, with zeros.
  const isCounted = or(...columns.map((count) => gt(count, 0)));
  const rows = (selected: Record<string, SQLiteColumn>) =>
    preparedQuery(({ organization_id, organization_user_id, waiting_room_id, start, end }: Wanted) => {
      const subject = hasValues(table, { organization_id, organization_user_id, waiting_room_id });
      return builder
        .select(selected)
        .from<SQLiteTable>(table)
        .where(and(subject, between(date, start, end), isCounted))
        .orderBy(asc(date));
    });
  return {
    daily: rows({ date, ...counts }),
    quarters: rows({ quarters: table.quarters }),
    counts: Object.keys(counts),
  } as unknown as DailyMetrics<Count>;
}

interface OfUserAndRoom {
  organization_id: number;
  id: number;
  waiting_room_id: number;
}

export const memberIfRoom = preparedQuery(
  ({ organization_id, id, waiting_room_id }: Placeholders<OfUserAndRoom>) =>
    builder
      .select({ id: organizationUsers.id })
      .from(organizationUsers)
      .innerJoin(waitingRooms, eq(waitingRooms.organization_id, organizationUsers.organization_id))
      .where(
        and(hasValues(organizationUsers, { organization_id, id }), eq(waitingRooms.id, waiting_room_id)),
      ),
);

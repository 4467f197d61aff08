import { and, asc, between, eq, getTableColumns, gt, or, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { ALL_ROOMS, type callDailyMetrics } from "../../calls/call_metrics/call_metrics.table.ts";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import type { visitDailyMetrics } from "../../rooms/visits/visits.table.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";
import { organizationUsers } from "../members/organization_users.table.ts";
import type { Day } from "./local_days.ts";

interface MetricsSubject {
  organization_id: number;
  /** WHOLE_ORGANIZATION for the metrics of all users together. */
  organization_user_id: number;
  /** ALL_ROOMS for the metrics of all rooms together. */
  waiting_room_id: number;
}

/** Dates as `YYYY-MM-DD`, both included. */
type Wanted = MetricsSubject & { start: string; end: string };

export interface DailyMetrics<Count extends string> {
  daily: PreparedQuery<Wanted, Day<Count>>;
  /** Each row as sums by quarter hour. */
  quarters: PreparedQuery<Wanted, { quarters: string }>;
  /** In the order that `quarters` has them. */
  counts: Count[];
}

type Table = typeof callDailyMetrics | typeof visitDailyMetrics;

type CountOf<Metrics extends Table> = Exclude<
  keyof Metrics["$inferSelect"] & string,
  keyof MetricsSubject | "date" | "quarters"
>;

export function dailyMetricsOf<Metrics extends Table>(table: Metrics): DailyMetrics<CountOf<Metrics>> {
  const { organization_id, organization_user_id, waiting_room_id, ...others } = getTableColumns<Table>(table);
  const { date, quarters, ...counts } = others;
  // A date whose last call or visit was moved to another date keeps its row, with zeros.
  const isCounted = or(...Object.values(counts).map((count) => gt(count, 0)));
  const rows = (selected: Record<string, SQLiteColumn>) =>
    preparedQuery((of: Placeholders<Wanted>) => {
      const isOfUser = eq(organization_user_id, of.organization_user_id);
      const isInRoom = eq(waiting_room_id, of.waiting_room_id);
      return builder
        .select(selected)
        .from<SQLiteTable>(table)
        .where(
          and(
            eq(organization_id, of.organization_id),
            isOfUser,
            isInRoom,
            between(date, of.start, of.end),
            isCounted,
          ),
        )
        .orderBy(asc(date));
    });
  return {
    daily: rows({ date, ...counts }),
    quarters: rows({ quarters }),
    counts: Object.keys(counts),
  } as unknown as DailyMetrics<CountOf<Metrics>>;
}

/** No row if the organization has no such user, or no such room. */
export const memberIfRoom = preparedQuery((of: Placeholders<MetricsSubject>) => {
  const { organization_id, organization_user_id: id, waiting_room_id } = of;
  const room = selectColumn(
    waitingRooms.id,
    hasValues(waitingRooms, { organization_id, id: waiting_room_id }),
  );
  const isRoom = sql`${waiting_room_id} in (${sql.raw(String(ALL_ROOMS))}, ${room})`;
  return selectColumn(organizationUsers.id, hasValues(organizationUsers, { organization_id, id }), isRoom);
});

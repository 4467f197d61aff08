import { and, eq, exists, isNotNull, isNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { legalHolds } from "../calls/legal_holds/legal_holds.table.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { DAY } from "../units.ts";
import { builder, type Value, type Values } from "./queries.ts";
import { selectColumn } from "./selects.ts";
import { type ChoreTurn, isInTurn } from "./turns.ts";

/** False if `days` is null. */
export const isOverdue = (time: SQLWrapper, days: SQLWrapper, now: Value<number>) =>
  sql`${time} < ${now} - ${days} * ${sql.raw(String(DAY))}`;

interface PastRetention {
  time: SQLiteColumn;
  days: (typeof organizations)[`${"recording" | "transcript" | "participant"}_retention_days`];
  /** Must repeat the WHERE of the index on (organization_id, time); may have further conditions. */
  where: SQL | undefined;
}

/**
 * Reads one row for each organization that does not keep its data forever, plus the rows that it selects, however large the
 * table is. A hold that ends, or a changed number of days, takes effect at once, because no progress is stored.
 */
export function isPastRetention(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  { time, days, where }: PastRetention,
  turn: Values<ChoreTurn>,
): SQL {
  const daysOf = (id: SQL) => builder.select({ days }).from(organizations).where(eq(organizations.id, id));
  const due = {
    time,
    where: (organization_id: SQL) => and(isOverdue(time, sql`${daysOf(organization_id)}`, turn.now), where),
    owners: sql`${selectColumn(organizations.id, isNotNull(days))}`,
  };
  return isInTurn(table, due, turn);
}

export const isRunningHoldOf = (call_id: SQLWrapper) =>
  and(eq(legalHolds.call_id, call_id), isNull(legalHolds.ended_at));

export const isHeld = (call_id: SQLWrapper): SQL =>
  exists(selectColumn(legalHolds.id, isRunningHoldOf(call_id)));

export const ERASED_NAME = "Participant";

import { and, eq, exists, isNotNull, isNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { legalHolds } from "../calls/legal_holds/legal_holds.table.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { DAY } from "../units.ts";
import { builder, type Value, type Values } from "./queries.ts";
import { selectColumn } from "./selects.ts";
import { type ChoreTurn, isInTurn } from "./turns.ts";

/** The number of days for which an organization keeps its data; null keeps it forever. */
type RetentionDays =
  | typeof organizations.recording_retention_days
  | typeof organizations.transcript_retention_days
  | typeof organizations.participant_retention_days;

/** True if a time is more than `days` ago; false if `days` is null. */
export const isOverdue = (time: SQLWrapper, days: SQLWrapper, now: Value<number>) =>
  sql`${time} < ${now} - ${days} * ${sql.raw(String(DAY))}`;

interface PastRetention {
  /** The time from which retention counts. */
  time: SQLiteColumn;
  days: RetentionDays;
  /** Must repeat the WHERE of the index on (organization_id, time); may have further conditions. */
  where: SQL | undefined;
}

/**
 * True for rows that are past retention and belong to this turn.
 *
 * It starts with the organizations that do not keep their data forever, and searches an index of each one's rows by time. So it
 * reads one row for each such organization, plus the rows that it selects, however large the table is. A hold that ends, or a
 * changed number of days, takes effect at once, because the progress of earlier runs is not stored.
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

/** True for a legal hold of the call that has not ended. */
export const isRunningHoldOf = (call_id: SQLWrapper) =>
  and(eq(legalHolds.call_id, call_id), isNull(legalHolds.ended_at));

/** True if a call is under legal hold. */
export const isHeld = (call_id: SQLWrapper): SQL =>
  exists(selectColumn(legalHolds.id, isRunningHoldOf(call_id)));

/** Replaces the display name of an erased person. */
export const ERASED_NAME = "Participant";

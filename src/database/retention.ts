import { and, eq, isNotNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { DAY } from "../units.ts";
import { builder, type Placeholders, type Value } from "./queries.ts";
import { isNotQuiet } from "./quiet.ts";
import { organizations } from "./schema.ts";
import { selectColumn } from "./selects.ts";
import { type ChoreTurn, isInTurn } from "./turns.ts";

/** How long an organization keeps something: null for good. */
type RetentionDays =
  | typeof organizations.recording_retention_days
  | typeof organizations.transcript_retention_days
  | typeof organizations.participant_retention_days;

/** True where a time is more days ago than an organization keeps what was then; not where it keeps that for good. */
export const isOverdue = (time: SQLWrapper, days: SQLWrapper, now: Value<number>) =>
  sql`${time} < ${now} - ${days} * ${sql.raw(String(DAY))}`;

/** What is past retention: the time that counts, the organization's days, and what else the row must be. */
interface PastRetention {
  time: SQLiteColumn;
  days: RetentionDays;
  /** In the words of the index on (organization_id, time), and what is asked besides. */
  where: SQL | undefined;
}

/**
 * True for what is past retention and has its turn.
 *
 * It starts with the organizations that do not keep everything, and for each looks into an index of its rows by their
 * time. So it reads one row for each such organization, and besides only what it selects, however many rows there are and
 * whatever became of them. A hold that ends or days that change count at once: nothing remembers how far an earlier run
 * came.
 *
 * A database that was restored selects nothing until it is resumed: reports of legal holds may have been lost.
 */
export function isPastRetention(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  { time, days, where }: PastRetention,
  turn: Placeholders<ChoreTurn>,
): SQL {
  const daysOf = (id: SQL) => builder.select({ days }).from(organizations).where(eq(organizations.id, id));
  const due = {
    time,
    where: (organization_id: SQL) => and(isOverdue(time, sql`${daysOf(organization_id)}`, turn.now), where),
    owners: sql`${selectColumn(organizations.id, isNotNull(days), isNotQuiet())}`,
  };
  return isInTurn(table, due, turn);
}

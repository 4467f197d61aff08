import { and, asc, eq, inArray, isNotNull, not, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { TRANSCRIPTS_DELETED } from "../tuning.ts";
import { DAY } from "../units.ts";
import type { Database } from "./database.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery, type Value } from "./queries.ts";
import { isNotQuiet } from "./quiet.ts";
import { type egresses, organizations, type soapNotes, type transcripts } from "./schema.ts";
import { type ChoreTurn, ownerIdOf, rowid, rowsInTurn, type Turn, workOffRecorded } from "./turns.ts";

/** How long an organization keeps something: null for good. */
type RetentionDays =
  | typeof organizations.recording_retention_days
  | typeof organizations.transcript_retention_days
  | typeof organizations.participant_retention_days;

type Results = typeof egresses | typeof transcripts | typeof soapNotes;

/** True where a time is more days ago than an organization keeps what was then; not where it keeps that for good. */
const isOverdue = (time: SQLWrapper, days: SQLWrapper, now: Value<number>) =>
  sql`${time} < ${now} - ${days} * ${sql.raw(String(DAY))}`;

/** True for a row that is older than its organization wants it to be, and not under legal hold. */
export const isPastRetention = (results: Results, days: RetentionDays, now: Value<number>): SQL =>
  sql`(not ${results.is_held} and exists ${builder
    .select({ id: organizations.id })
    .from(organizations)
    .where(
      and(eq(organizations.id, results.organization_id), isOverdue(results.call_ended_at, days, now)),
    )})`;

/** What is past retention: the time that counts, the organization's days, and what else the row must be. */
interface PastRetention {
  time: SQLiteColumn;
  days: RetentionDays;
  /** In the words of the index on (organization_id, time), and what is asked besides. */
  where: SQL | undefined;
}

/**
 * Selects the rowids of what is past retention and has its turn.
 *
 * It starts with the organizations that do not keep everything, and for each looks into an index of its rows by their
 * time. So it reads one row for each such organization, and besides only what it selects, however many rows there are and
 * whatever became of them. A hold that ends or days that change count at once: nothing remembers how far an earlier run
 * came.
 *
 * A database that was restored selects nothing until it is resumed: reports of legal holds may have been lost.
 */
export function pastRetentionInTurn(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  { time, days, where }: PastRetention,
  now: Value<number>,
  turn: Placeholders<Turn>,
): SQL {
  const deleting = sql`${builder
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(isNotNull(days), isNotQuiet()))}`;
  const overdueOf = (organization_id: SQL) => {
    const daysOf = builder.select({ days }).from(organizations).where(eq(organizations.id, organization_id));
    return builder
      .select({ rowid: rowid.as("rowid") })
      .from(table)
      .where(and(eq(table.organization_id, organization_id), isOverdue(time, sql`${daysOf}`, now), where))
      .orderBy(asc(time));
  };
  return rowsInTurn(table, deleting, overdueOf, turn);
}

/**
 * The chore that deletes the transcripts or SOAP notes that are past retention, each with its entry of the access log.
 *
 * @param entriesWhere makes the statement of the entries for those that a condition selects
 */
export function cleanUpPastRetention<Requested extends { db: Database; now: number }>(
  results: typeof transcripts | typeof soapNotes,
  entriesWhere: (
    condition: (chore: Placeholders<ChoreTurn>) => SQL,
  ) => (context: Requested, event: "delete", chore: ChoreTurn) => BoundQuery<unknown>,
): (context: Requested) => Promise<number> {
  const isDue = (chore: Placeholders<ChoreTurn>) =>
    inArray(
      rowid,
      pastRetentionInTurn(
        results,
        {
          time: results.call_ended_at,
          days: organizations.transcript_retention_days,
          where: not(results.is_held),
        },
        chore.now,
        chore,
      ),
    );
  const recordDeletions = entriesWhere(isDue);
  const deleteDue = preparedQuery((chore: Placeholders<ChoreTurn>) =>
    builder
      .delete(results)
      .where(isDue(chore))
      .returning({ owner_id: ownerIdOf(results.organization_id) }),
  );
  return (context) =>
    workOffRecorded(
      context,
      TRANSCRIPTS_DELETED,
      (chore) => recordDeletions(context, "delete", chore),
      deleteDue,
    );
}

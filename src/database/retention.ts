import { and, eq, inArray, isNotNull, not, type SQL, sql } from "drizzle-orm";
import { DAY, TRANSCRIPTS_DELETED } from "../limits.ts";
import type { CleanUp } from "./clean_up.ts";
import { builder, type Placeholders, preparedQuery, runAll, type Value } from "./queries.ts";
import { isNotQuiet } from "./quiet.ts";
import { type egresses, organizations, type soapNotes, type transcripts } from "./schema.ts";

/** How long an organization keeps something: null for good. */
type RetentionDays =
  | typeof organizations.recording_retention_days
  | typeof organizations.transcript_retention_days;

type Results = typeof egresses | typeof transcripts | typeof soapNotes;

/** True where the call ended more days ago than the organization keeps its results. */
const isOverdue = (results: Results, days: RetentionDays, now: Value<number>) =>
  and(isNotNull(days), sql`${results.call_ended_at} < ${now} - ${days} * ${sql.raw(String(DAY))}`);

/** True for a row that is older than its organization wants it to be, and not under legal hold. */
export const isPastRetention = (results: Results, days: RetentionDays, now: Value<number>): SQL =>
  sql`(not ${results.is_held} and exists ${builder
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(eq(organizations.id, results.organization_id), isOverdue(results, days, now)))})`;

/**
 * Selects the ids of rows that are past retention, at most `limit` of them.
 *
 * It starts with the organizations that do not keep everything, and for each looks into an index of its rows by the end
 * of their calls. So it reads one row for each such organization, and besides only what it selects, however many calls
 * there are and whatever became of them. A hold that ends or days that change count at once: nothing remembers how far
 * an earlier run came.
 *
 * A database that was restored selects nothing until it is resumed: reports of legal holds may have been lost.
 *
 * @param isIndexed what the WHERE of that index says, in its words, besides `not is_held`
 */
export const idsPastRetention = (
  results: Results,
  days: RetentionDays,
  now: Value<number>,
  limit: number,
  isIndexed?: SQL,
) =>
  builder
    .select({ id: results.id })
    .from(organizations)
    // Of a CROSS JOIN, SQLite always begins with the first table.
    .crossJoin(results)
    .where(
      and(
        eq(results.organization_id, organizations.id),
        isOverdue(results, days, now),
        not(results.is_held),
        isIndexed,
        isNotQuiet(),
      ),
    )
    .limit(limit);

/** The chore that deletes the transcripts or SOAP notes that are past retention. */
export function cleanUpPastRetention(results: typeof transcripts | typeof soapNotes): CleanUp {
  const deletePastRetention = preparedQuery(({ now }: Placeholders<{ now: number }>) =>
    builder
      .delete(results)
      .where(
        inArray(
          results.id,
          idsPastRetention(results, organizations.transcript_retention_days, now, TRANSCRIPTS_DELETED),
        ),
      )
      .returning({ id: results.id }),
  );
  return async ({ db, now }) => (await runAll(db, deletePastRetention({ now }))).length;
}

import { eq, inArray, type SQLWrapper } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { expiredIds } from "../../database/retention.ts";
import { organizations, transcriptLines, transcripts } from "../../database/schema.ts";
import { TRANSCRIPTS_DELETED } from "../../limits.ts";
import { namedDeletion } from "../calls/calls.sql.ts";

/** Deletes the transcript of a call, if there is one. A trigger writes the audit entry. */
export async function deleteTranscript({ db }: Context, key: string): Promise<void> {
  await deleteOfCall(db, { key });
}

/**
 * Deletes transcripts of calls that ended more days ago than their organization keeps them: a portion in one run.
 *
 * @returns how many
 */
export async function deleteOldTranscripts({ db, now }: Context): Promise<number> {
  const [, deleted] = await runBatch(db, [deleteExpiredLines({ now }), deleteExpired({ now })]);
  return deleted.length;
}

const linesOf = (ids: SQLWrapper) =>
  builder.delete(transcriptLines).where(inArray(transcriptLines.transcript_id, ids));

const deleteOfCall = namedDeletion((call_id) => [
  linesOf(builder.select({ id: transcripts.id }).from(transcripts).where(eq(transcripts.call_id, call_id))),
  builder.delete(transcripts).where(eq(transcripts.call_id, call_id)),
]);

const expired = ({ now }: Placeholders<{ now: number }>) =>
  expiredIds(transcripts, organizations.transcript_retention_days, now, TRANSCRIPTS_DELETED);

const deleteExpiredLines = namedQuery((at: Placeholders<{ now: number }>) => linesOf(expired(at)));

const deleteExpired = namedQuery((at: Placeholders<{ now: number }>) =>
  builder
    .delete(transcripts)
    .where(inArray(transcripts.id, expired(at)))
    .returning({ id: transcripts.id }),
);

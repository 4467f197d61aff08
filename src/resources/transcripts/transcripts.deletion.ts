import { eq, inArray } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runAll } from "../../database/queries.ts";
import { expiredIds } from "../../database/retention.ts";
import { organizations, transcripts } from "../../database/schema.ts";
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
  return (await runAll(db, deleteExpired({ now }))).length;
}

const deleteOfCall = namedDeletion((call_id) => [
  builder.delete(transcripts).where(eq(transcripts.call_id, call_id)),
]);

const deleteExpired = namedQuery(({ now }: Placeholders<{ now: number }>) =>
  builder
    .delete(transcripts)
    .where(
      inArray(
        transcripts.id,
        expiredIds(transcripts, organizations.transcript_retention_days, now, TRANSCRIPTS_DELETED),
      ),
    )
    .returning({ id: transcripts.id }),
);

import type { Context } from "../../context.ts";
import { runAll } from "../../database/queries.ts";
import { namedExpiry } from "../../database/retention.ts";
import { transcripts } from "../../database/schema.ts";
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

const deleteOfCall = namedDeletion(transcripts);

const deleteExpired = namedExpiry(transcripts);

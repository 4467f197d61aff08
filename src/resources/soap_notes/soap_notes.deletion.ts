import { eq, inArray } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runAll } from "../../database/queries.ts";
import { expiredIds } from "../../database/retention.ts";
import { organizations, soapNotes } from "../../database/schema.ts";
import { TRANSCRIPTS_DELETED } from "../../limits.ts";
import { namedDeletion } from "../calls/calls.sql.ts";

/** Deletes the SOAP note of a call, if there is one. A trigger writes the audit entry. */
export async function deleteSoapNote({ db }: Context, key: string): Promise<void> {
  await deleteOfCall(db, { key });
}

/**
 * Deletes SOAP notes of calls that ended more days ago than their organization keeps transcripts: a portion in one run.
 *
 * @returns how many
 */
export async function deleteOldSoapNotes({ db, now }: Context): Promise<number> {
  return (await runAll(db, deleteExpired({ now }))).length;
}

const deleteOfCall = namedDeletion((call_id) => [
  builder.delete(soapNotes).where(eq(soapNotes.call_id, call_id)),
]);

const deleteExpired = namedQuery(({ now }: Placeholders<{ now: number }>) =>
  builder
    .delete(soapNotes)
    .where(
      inArray(
        soapNotes.id,
        expiredIds(soapNotes, organizations.transcript_retention_days, now, TRANSCRIPTS_DELETED),
      ),
    )
    .returning({ id: soapNotes.id }),
);

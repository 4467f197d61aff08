import type { Context } from "../../context.ts";
import { runAll } from "../../database/queries.ts";
import { namedExpiry } from "../../database/retention.ts";
import { soapNotes } from "../../database/schema.ts";
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

const deleteOfCall = namedDeletion(soapNotes);

const deleteExpired = namedExpiry(soapNotes);

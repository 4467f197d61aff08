import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { cleanUpPastRetention } from "../../database/retention.ts";
import { soapNotes } from "../../database/schema.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { requireDeletableResults } from "../calls/calls.policy.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { type CallKey, callOfResults, reachedCall } from "../calls/calls.sql.ts";
import { mergeSoapNote } from "./soap_notes.merge.ts";
import { soapNoteNotFound } from "./soap_notes.refusals.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";
import {
  deleteSoapNoteOf,
  soapNoteByCallKey,
  soapNoteEntries,
  soapNoteOfPath,
  soapNoteWrites,
} from "./soap_notes.sql.ts";

export async function requireSoapNote(context: ClientContext, path: CallPath): Promise<SoapNote> {
  const reached = reachedCall(context.caller, path);
  const [[note], entries] = await runBatch(context.db, [
    soapNoteOfPath(reached),
    soapNoteEntries.ofPath(context, "read", reached),
  ]);
  if (!note) throw soapNoteNotFound();
  requireEntry(entries);
  return note;
}

/** Records the SOAP note of a call. */
export async function reportSoapNote(
  { db, now }: Context,
  path: CallKey,
  report: SoapNoteReport,
): Promise<SoapNote> {
  return decideAndWrite(db, [callOfResults(path), soapNoteByCallKey(path)], ([call], [note]) => {
    if (!call) throw callNotFound();
    return upsertIfChanged(soapNoteWrites, note, mergeSoapNote({ call, note }, report, now));
  });
}

/** Deletes the SOAP note of a call, if there is one. */
export async function deleteSoapNote(context: Context, path: CallKey): Promise<void> {
  await decideAndWrite(context.db, [callOfResults(path)], ([call]) => {
    if (!call) throw callNotFound();
    requireDeletableResults(call);
    const { id: call_id } = call;
    return {
      writes: [
        soapNoteEntries.ofCall(context, "delete", { call_id }),
        deleteSoapNoteOf({ call_id }),
        callOfResults(path),
      ],
    };
  });
}

/** Deletes SOAP notes of calls that ended more days ago than their organization keeps transcripts. */
export const deleteOldSoapNotes = cleanUpPastRetention(soapNotes, soapNoteEntries.where);

import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { type CallKey, callOfResults, reachedCall } from "../calls/calls.sql.ts";
import { mergeSoapNote } from "./soap_notes.merge.ts";
import { soapNoteNotFound } from "./soap_notes.refusals.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";
import { soapNoteOfPath, soapNoteText } from "./soap_notes.sql.ts";

export async function requireSoapNote(context: ClientContext, path: CallPath): Promise<SoapNote> {
  const reached = reachedCall(context.caller, path);
  const [[note], entries] = await runBatch(context.db, [
    soapNoteOfPath(reached),
    soapNoteText.entriesOfPath(context, "read", reached),
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
  return decideAndWrite(db, [callOfResults(path), soapNoteText.byCallKey(path)], ([call], [note]) => {
    if (!call) throw callNotFound();
    return upsertIfChanged(soapNoteText.writes, note, mergeSoapNote({ call, note }, report, now));
  });
}

import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { type CallKey, callOfResults, reachedCall } from "../../calls/calls/calls.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { entryOfText, textByCallKey, textOfPath, textWrites } from "../call_texts/call_texts.sql.ts";
import { mergeSoapNote, soapNoteNotFound } from "./soap_notes.merge.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";

export async function requireSoapNote(context: ClientContext, path: CallPath): Promise<SoapNote> {
  const text = { ...reachedCall(context.caller, path), kind: "soap_note" } as const;
  const [[note], entries] = await runBatch(context.db, [
    textOfPath(text),
    entryOfText(context, "read", text),
  ]);
  if (!note) throw soapNoteNotFound();
  requireEntry(entries);
  return note as SoapNote;
}

export async function reportSoapNote(context: Context, path: CallKey, report: SoapNoteReport) {
  const reads = { call: callOfResults(path), note: textByCallKey({ ...path, kind: "soap_note" }) };
  const note = await decideAndWrite(context, reads, ({ call: [call], note: [note] }) => {
    if (!call) throw callNotFound();
    return upsertIfChanged(
      textWrites,
      note,
      mergeSoapNote({ call, note: note as SoapNote }, report, context.now),
    );
  });
  return note as SoapNote;
}

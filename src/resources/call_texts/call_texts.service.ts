import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { workOffRecorded } from "../../database/turns.ts";
import { TRANSCRIPTS_DELETED } from "../../tuning.ts";
import { requireDeletableResults } from "../calls/calls.policy.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { type CallKey, callOfResults } from "../calls/calls.sql.ts";
import { soapNoteText } from "../soap_notes/soap_notes.sql.ts";
import { transcriptText } from "../transcripts/transcripts.sql.ts";
import type { CallText } from "./call_texts.sql.ts";

/** Deletes the transcript of a call, if there is one. */
export const deleteTranscript = deletionOf(transcriptText);

/** Deletes the SOAP note of a call, if there is one. */
export const deleteSoapNote = deletionOf(soapNoteText);

function deletionOf({ deletionOfCall: { record, remove } }: Pick<CallText, "deletionOfCall">) {
  return async (context: Context, path: CallKey): Promise<void> => {
    await decideAndWrite(context.db, [callOfResults(path)], ([call]) => {
      if (!call) throw callNotFound();
      requireDeletableResults(call);
      const { id: call_id } = call;
      return { writes: [record(context, "delete", { call_id }), remove({ call_id }), callOfResults(path)] };
    });
  };
}

/** Delete transcripts and SOAP notes of calls that ended more days ago than their organization keeps transcripts. */
export const deleteOldTranscripts = choreOf(transcriptText);
export const deleteOldSoapNotes = choreOf(soapNoteText);

function choreOf({ deletionOfOld: { record, remove } }: Pick<CallText, "deletionOfOld">) {
  return (context: Context): Promise<number> =>
    workOffRecorded(context, TRANSCRIPTS_DELETED, (chore) => record(context, "delete", chore), remove);
}

import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import type { CallTextKind } from "../../database/enums.ts";
import { workOffRecorded } from "../../database/turns.ts";
import { TEXTS_DELETED } from "../../tuning.ts";
import { requireDeletableResults } from "../calls/calls.policy.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { type CallKey, callOfResults } from "../calls/calls.sql.ts";
import { deletionOfOld, deletionOfText } from "./call_texts.sql.ts";

/** Deletes the transcript or the SOAP note of a call, if there is one. */
export async function deleteText(context: Context, path: CallKey, kind: CallTextKind): Promise<void> {
  await decideAndWrite(context.db, [callOfResults(path)], ([call]) => {
    if (!call) throw callNotFound();
    requireDeletableResults(call);
    const text = { call_id: call.id, kind };
    return {
      writes: [
        deletionOfText.record(context, "delete", text),
        deletionOfText.remove(text),
        callOfResults(path),
      ],
    };
  });
}

/** Deletes transcripts and SOAP notes of calls that ended more days ago than their organization keeps transcripts. */
export const deleteOldTexts = (context: Context): Promise<number> =>
  workOffRecorded(
    context,
    TEXTS_DELETED,
    (chore) => deletionOfOld.record(context, "delete", chore),
    deletionOfOld.remove,
  );

import { callNotFound, callUnderLegalHold } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import {
  type CallKey,
  type CallOfResults,
  callOfResults,
  reachedCall,
  resultsOfPath,
} from "../../calls/calls/calls.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import type { CallTextKind } from "../../database/enums.ts";
import type { BoundQuery } from "../../database/queries.ts";
import { workOffRecorded } from "../../database/turns.ts";
import { requireVersion } from "../../http/preconditions.ts";
import { asAdministrator } from "../../organization/roles/roles.authors.ts";
import { TEXTS_DELETED } from "../../tuning.ts";
import { deletionOfOld, deletionOfText, stateOfText } from "./call_texts.sql.ts";

export async function deleteText(context: Context, path: CallKey, kind: CallTextKind): Promise<void> {
  const known = callOfResults(path);
  await decideAndWrite(context, { call: known }, ({ call: [call] }) =>
    decideDeletion(context, call, kind, known),
  );
}

export async function deleteOwnText(context: ClientContext, path: CallPath, kind: CallTextKind) {
  const { caller } = context;
  const author = asAdministrator(caller);
  const reached = { ...reachedCall(caller, path), kind };
  const known = resultsOfPath(reached);
  const reads = { member: author.read, call: known, text: stateOfText(reached) };
  await decideAndWrite(context, reads, ({ member: [member], call: [call], text: [text] }) => {
    author.require(member);
    if (!call) throw callNotFound();
    requireVersion(context, text);
    return decideDeletion(context, call, kind, known);
  });
}

function decideDeletion(
  context: Context,
  call: CallOfResults | undefined,
  kind: CallTextKind,
  known: BoundQuery<CallOfResults>,
): Decision<CallOfResults> {
  if (!call) throw callNotFound();
  if (call.hold_id !== null) throw callUnderLegalHold();
  const text = { call_id: call.id, kind };
  return { writes: [deletionOfText.record(context, "delete", text), deletionOfText.remove(text), known] };
}

export const deleteOldTexts = (context: Context): Promise<number> =>
  workOffRecorded(
    context,
    TEXTS_DELETED,
    (chore) => deletionOfOld.record(context, "delete", chore),
    deletionOfOld.remove,
  );

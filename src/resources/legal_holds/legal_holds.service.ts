import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { ReportedCall } from "../calls/calls.schemas.ts";
import { type CallKey, callByKey } from "../calls/calls.sql.ts";
import type { HoldReport } from "./legal_holds.schemas.ts";
import { beginHold, changeReason, endHold, holdEntry } from "./legal_holds.sql.ts";

/** Begins the legal hold of a call. Where one is running, its reason changes, if one is given. */
export async function holdCall(
  context: Context,
  path: CallKey,
  { reason }: HoldReport,
): Promise<ReportedCall> {
  const { db, now } = context;
  return decideAndWrite(db, [callByKey(path)], ([call]) => {
    if (!call) throw callNotFound();
    const { hold_id, hold_reason } = call;
    if (hold_id === null)
      return {
        writes: [beginHold({ ...path, reason: reason ?? null, now }), callByKey(path)],
        entries: [holdEntry(context, "create", path)],
      };
    if (reason === undefined || reason === hold_reason) return { unchanged: call };
    return {
      writes: [changeReason({ hold_id, reason }), callByKey(path)],
      entries: [holdEntry(context, "update", path)],
    };
  });
}

/** Ends the legal hold of a call, if there is one. */
export async function releaseCall(context: Context, path: CallKey): Promise<void> {
  const [calls] = await runBatch(context.db, [
    callByKey(path),
    holdEntry(context, "delete", path),
    endHold({ ...path, now: context.now }),
  ]);
  if (calls.length === 0) throw callNotFound();
}

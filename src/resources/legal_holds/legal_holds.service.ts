import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { ReportedCall } from "../calls/calls.schemas.ts";
import { callByKey } from "../calls/calls.sql.ts";
import type { HoldReport } from "./legal_holds.schemas.ts";
import { beginHold, changeReason, endHold } from "./legal_holds.sql.ts";

/** Begins the legal hold of a call. Where one is running, its reason changes, if one is given. */
export async function holdCall(
  { db, now }: Context,
  key: string,
  { reason }: HoldReport,
): Promise<ReportedCall> {
  return decideAndWrite(db, [callByKey({ key })], ([call]) => {
    if (!call) throw callNotFound();
    const { hold_id, hold_reason } = call;
    if (hold_id === null)
      return { writes: [beginHold({ key, reason: reason ?? null, now }), callByKey({ key })] };
    if (reason === undefined || reason === hold_reason) return { unchanged: call };
    return { writes: [changeReason({ hold_id, reason }), callByKey({ key })] };
  });
}

/** Ends the legal hold of a call, if there is one. */
export async function releaseCall({ db, now }: Context, key: string): Promise<void> {
  const [calls] = await runBatch(db, [callByKey({ key }), endHold({ key, now })]);
  if (calls.length === 0) throw callNotFound();
}

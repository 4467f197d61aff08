import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import type { HoldBeginner } from "../../database/enums.ts";
import type { BoundQuery } from "../../database/queries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { callWithResults } from "../calls/calls.results.ts";
import type { CallPath, CallWithResults, ReportedCall } from "../calls/calls.schemas.ts";
import { type CallKey, callByKey, reachedCall } from "../calls/calls.sql.ts";
import { asAdministrator } from "../roles/roles.authors.ts";
import { mergeHold, requireEndable } from "./legal_holds.merge.ts";
import type { HoldReport } from "./legal_holds.schemas.ts";
import { endHold, type HeldCall, holdEntry, holdOfPath, holdWrites } from "./legal_holds.sql.ts";

/** Begins the legal hold of a call, or changes the one that is running. */
export function holdCall(context: Context, path: CallKey, hold: HoldReport): Promise<ReportedCall> {
  const shown = callByKey(path);
  return decideAndWrite(context.db, [shown], ([call]) => {
    if (!call) throw callNotFound();
    return decideHold(context, "platform", call, hold, { read: shown, row: call });
  });
}

/** The same by a client of an administrator, for a call of the organization. */
export async function holdOwnCall(
  context: ClientContext,
  path: CallPath,
  hold: HoldReport,
): Promise<CallWithResults> {
  const { db, caller } = context;
  const author = asAdministrator(caller, callNotFound);
  const reached = reachedCall(caller, path);
  const shown = callWithResults(reached);
  return decideAndWrite(
    db,
    [author.read, holdOfPath(reached)],
    ([member], [call], [row]) => {
      author.require(member);
      if (!call || !row) throw callNotFound();
      return decideHold(context, "organization", call, hold, { read: shown, row });
    },
    { unguardedReads: [shown] },
  );
}

/** @param shown how the call is shown, and as what it is now */
function decideHold<Row>(
  context: Context,
  begun_by: HoldBeginner,
  call: HeldCall,
  hold: HoldReport,
  shown: { read: BoundQuery<Row>; row: Row },
): Decision<Row> {
  const { organization_id, key, hold_id } = call;
  const next = mergeHold(call, begun_by, hold);
  if (!next) return { unchanged: shown.row };
  const { write, entry } = holdWrites(context, { organization_id, key, hold_id }, next);
  return { writes: [write, shown.read], entries: [entry] };
}

/** Ends the legal hold of a call, if there is one. */
export async function releaseCall(context: Context, path: CallKey): Promise<void> {
  await decideAndWrite(context.db, [callByKey(path)], ([call]) => decideRelease(context, "platform", call));
}

/** The same by a client of an administrator, for a call of the organization. */
export async function releaseOwnCall(context: ClientContext, path: CallPath): Promise<void> {
  const { db, caller } = context;
  const author = asAdministrator(caller, callNotFound);
  const known = holdOfPath(reachedCall(caller, path));
  await decideAndWrite(db, [author.read, known], ([member], [call]) => {
    author.require(member);
    return decideRelease(context, "organization", call);
  });
}

function decideRelease(
  context: Context,
  ended_by: HoldBeginner,
  call: HeldCall | undefined,
): Decision<unknown> {
  if (!call) throw callNotFound();
  const { organization_id, key, hold_id } = call;
  if (hold_id === null) return { unchanged: undefined };
  requireEndable(call, ended_by);
  const path = { organization_id, key };
  return {
    writes: [holdEntry(context, "delete", path), endHold({ ...path, now: context.now, begun_by: ended_by })],
  };
}

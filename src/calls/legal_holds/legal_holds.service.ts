import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import type { HoldBeginner } from "../../database/enums.ts";
import type { BoundQuery } from "../../database/queries.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { toTimestampOrNull } from "../../http/wire.ts";
import { asAdministrator } from "../../organization/roles/roles.authors.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath, ReportedCall } from "../calls/calls.schemas.ts";
import { type CallKey, callByKey, callDetails, reachedCall } from "../calls/calls.sql.ts";
import { type HoldReport, holdOfPlatform } from "./legal_holds.schemas.ts";
import { endHold, type HeldCall, holdEntry, holdOfPath, holdWrites } from "./legal_holds.sql.ts";

export function holdCall(context: Context, path: CallKey, hold: HoldReport): Promise<ReportedCall> {
  const shown = callByKey(path);
  return decideAndWrite(context, { call: shown }, ({ call: [call] }) => {
    if (!call) throw callNotFound();
    return decideHold(context, "platform", call, hold, { read: shown, row: call });
  });
}

export async function holdOwnCall(context: ClientContext, path: CallPath, hold: HoldReport) {
  const { caller } = context;
  const author = asAdministrator(caller);
  const reached = reachedCall(caller, path);
  const shown = callDetails(reached);
  return decideAndWrite(
    context,
    { member: author.read, heldCall: holdOfPath(reached) },
    ({ member: [member], heldCall: [heldCall], call: [call] }) => {
      author.require(member);
      if (!heldCall || !call) throw callNotFound();
      return decideHold(context, "organization", heldCall, hold, { read: shown, row: call });
    },
    { unguardedReads: { call: shown } },
  );
}

/**
 * An omitted reason stays. A hold that the platform requests is the platform's, even if the organization began it.
 */
function decideHold<Row>(
  context: Context,
  begun_by: HoldBeginner,
  call: HeldCall,
  { reason = call.hold_reason }: HoldReport,
  shown: { read: BoundQuery<Row>; row: Row },
): Decision<Row> {
  const { organization_id, key, hold_id, hold_began_at, hold_begun_by } = call;
  requireUnchanged(context, { began_at: toTimestampOrNull(hold_began_at), begun_by: hold_begun_by });
  if (hold_begun_by === begun_by && reason === call.hold_reason) return { unchanged: shown.row };
  requireEndable(call, begun_by);
  const { write, entry } = holdWrites(context, { organization_id, key, hold_id }, { begun_by, reason });
  return { writes: [write, shown.read], entries: [entry] };
}

/** @throws ApiError 422 if the organization would end or change a hold of the platform */
function requireEndable({ hold_begun_by }: HeldCall, by: HoldBeginner): void {
  if (hold_begun_by === "platform" && by !== "platform") throw holdOfPlatform();
}

export async function releaseCall(context: Context, path: CallKey): Promise<void> {
  await decideAndWrite(context, { call: callByKey(path) }, ({ call: [call] }) =>
    decideRelease(context, "platform", call),
  );
}

export async function releaseOwnCall(context: ClientContext, path: CallPath): Promise<void> {
  const { caller } = context;
  const author = asAdministrator(caller);
  const call = holdOfPath(reachedCall(caller, path));
  await decideAndWrite(context, { member: author.read, call }, ({ member: [member], call: [call] }) => {
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

import { eq } from "drizzle-orm";
import { scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { legalHolds } from "../../database/schema.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { type CallKey, callIdByKey, isRunningHoldOf } from "../calls/calls.sql.ts";

/** For a call that is not held. It may be reported in the same transaction. */
export const beginHold = preparedQuery(
  (hold: Placeholders<CallKey & { reason: string | null; now: number }>) =>
    builder.insert(legalHolds).values({
      organization_id: hold.organization_id,
      call_id: scalar(callIdByKey(hold)),
      reason: hold.reason,
      began_at: hold.now,
    }),
);

export const changeReason = preparedQuery(
  ({ hold_id, reason }: Placeholders<{ hold_id: number; reason: string | null }>) =>
    builder.update(legalHolds).set({ reason }).where(eq(legalHolds.id, hold_id)),
);

/** Ends the running hold, if there is one. */
export const endHold = preparedQuery((hold: Placeholders<CallKey & { now: number }>) =>
  builder
    .update(legalHolds)
    .set({ ended_at: hold.now })
    .where(isRunningHoldOf(callIdByKey(hold))),
);

/** The entry of the access log about the running hold of a call, if there is one. */
export const holdEntry = accessEntries("legal_hold", (call: Placeholders<CallKey>) => ({
  ...subjectOfCall(legalHolds),
  resource_id: legalHolds.id,
  from: legalHolds,
  where: isRunningHoldOf(callIdByKey(call)),
}));

import { eq } from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Context } from "../../context.ts";
import { scalar } from "../../database/expressions.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type RowsOf,
} from "../../database/queries.ts";
import { isRunningHoldOf } from "../../database/retention.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import {
  type CallKey,
  callIdByKey,
  callWithinReach,
  holdColumns,
  type ReachedCall,
} from "../calls/calls.sql.ts";
import { calls } from "../calls/calls.table.ts";
import { legalHolds } from "./legal_holds.table.ts";

type Hold = Pick<typeof legalHolds.$inferSelect, "begun_by" | "reason">;

/** Only the columns that a change of a call's hold depends on, so that other reports do not conflict with it. */
export const holdOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ organization_id: calls.organization_id, key: calls.key, ...holdColumns })
    .from(calls)
    .leftJoin(legalHolds, isRunningHoldOf(calls.id))
    .where(callWithinReach(call)),
);

export type HeldCall = RowsOf<[ReturnType<typeof holdOfPath>]>[0][number];

const beginHold = preparedQuery((hold: Placeholders<CallKey & Hold & { now: number }>) =>
  builder.insert(legalHolds).values({
    organization_id: hold.organization_id,
    call_id: scalar(callIdByKey(hold)),
    begun_by: hold.begun_by,
    reason: hold.reason,
    began_at: hold.now,
  }),
);

const changeHold = preparedQuery(({ hold_id, begun_by, reason }: Placeholders<Hold & { hold_id: number }>) =>
  builder.update(legalHolds).set({ begun_by, reason }).where(eq(legalHolds.id, hold_id)),
);

/**
 * Ends the running hold, if there is one. A hold that the platform ends becomes the platform's, so that an earlier report does not
 * begin it again.
 */
export const endHold = preparedQuery(
  (hold: Placeholders<CallKey & Pick<Hold, "begun_by"> & { now: number }>) =>
    builder
      .update(legalHolds)
      .set({ ended_at: hold.now, begun_by: hold.begun_by })
      .where(isRunningHoldOf(callIdByKey(hold)))
      .returning({ id: legalHolds.id }),
);

export const holdEntry = entriesWhere(
  "legal_hold",
  legalHolds,
  subjectOfCall(legalHolds),
)((call: Placeholders<CallKey>) => isRunningHoldOf(callIdByKey(call)));

/** The statement that begins a hold or changes the running one, and its entry. The call may be inserted in the same transaction. */
export const holdWrites = (
  context: Context,
  { hold_id, ...call }: CallKey & { hold_id: number | null },
  hold: Hold,
): { write: BoundQuery<unknown>; entry: BoundQuery<unknown> } =>
  hold_id === null
    ? { write: beginHold({ ...call, ...hold, now: context.now }), entry: holdEntry(context, "create", call) }
    : { write: changeHold({ hold_id, ...hold }), entry: holdEntry(context, "update", call) };

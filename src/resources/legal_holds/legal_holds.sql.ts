import { eq, sql } from "drizzle-orm";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { calls, legalHolds } from "../../database/schema.ts";
import { subjectOfCall } from "../access_logs/access_logs.calls.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { callIdByKey, isRunningHoldOf } from "../calls/calls.sql.ts";

/** For a call that is not held. It may be reported in the same transaction. */
export const beginHold = preparedQuery(
  ({ key, reason, now }: Placeholders<{ key: string; reason: string | null; now: number }>) =>
    insertSelect(
      legalHolds,
      { organization_id: calls.organization_id, call_id: calls.id, reason, began_at: now },
      sql`from ${calls} where ${calls.key} = ${key}`,
    ),
);

export const changeReason = preparedQuery(
  ({ hold_id, reason }: Placeholders<{ hold_id: number; reason: string | null }>) =>
    builder
      .update(legalHolds)
      .set({ reason: sql`${reason}` })
      .where(eq(legalHolds.id, hold_id)),
);

/** Ends the running hold, if there is one. */
export const endHold = preparedQuery(({ key, now }: Placeholders<{ key: string; now: number }>) =>
  builder
    .update(legalHolds)
    .set({ ended_at: sql`${now}` })
    .where(isRunningHoldOf(sql`${callIdByKey(key)}`)),
);

/** The entry of the access log about the running hold of a call, if there is one. */
export const holdEntry = accessEntries("legal_hold", ({ key }: Placeholders<{ key: string }>) => ({
  ...subjectOfCall(legalHolds),
  resource_id: sql<number>`${legalHolds.id}`,
  from: sql`from ${legalHolds} where ${isRunningHoldOf(sql`${callIdByKey(key)}`)}`,
}));

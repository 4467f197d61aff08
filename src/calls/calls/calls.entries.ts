import { eq, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { entriesWhere, requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import type { ClientContext } from "../../context.ts";
import { type Placeholders, type PreparedQuery, runBatch } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { callNotFound } from "./calls.refusals.ts";
import { callOfPath, callWithinReach, type ReachedCall, reachedCall } from "./calls.sql.ts";
import { calls } from "./calls.table.ts";

/** The subject of an access log entry about a row that belongs to a call: the call and its holder. */
export function subjectOfCall({
  organization_id,
  call_id,
}: Record<"organization_id" | "call_id", SQLiteColumn>) {
  const owner = selectColumn(calls.organization_user_id, eq(calls.id, call_id));
  return { organization_id, call_id, organization_user_id: owner };
}

/**
 * The entry of a list of what belongs to a call.
 *
 * @param shown the ids of the call's people whom the list shows, if it shows names
 */
export const entryOfListOfCall = (resource: "participant" | "consent", shown: SQL | null = null) =>
  entriesWhere(resource, calls, {
    organization_id: calls.organization_id,
    resource_id: null,
    call_id: calls.id,
    organization_user_id: calls.organization_user_id,
    shown,
  })((call: Placeholders<ReachedCall>) => callWithinReach(call));

export function recordedListOfCall<Item>(
  resource: "participant" | "consent",
  list: PreparedQuery<ReachedCall, Item>,
  shown?: SQL,
) {
  const entry = entryOfListOfCall(resource, shown);
  return async (context: ClientContext, path: Parameters<typeof reachedCall>[1]): Promise<Item[]> => {
    const reached = reachedCall(context.caller, path);
    const [[call], items, entries] = await runBatch(context.db, [
      callOfPath(reached),
      list(reached),
      entry(context, "read", reached),
    ]);
    if (!call) throw callNotFound();
    requireEntry(entries);
    return items;
  };
}

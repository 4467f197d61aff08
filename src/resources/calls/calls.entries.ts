import { eq } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { ClientContext } from "../../context.ts";
import { type Placeholders, type PreparedQuery, runBatch } from "../../database/queries.ts";
import { calls } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { entriesWhere, entryOfOrganization, requireEntry } from "../access_logs/access_logs.entries.ts";
import { callNotFound } from "./calls.refusals.ts";
import { callOfPath, callWithinReach, type ReachedCall, reachedCall } from "./calls.sql.ts";

/* Entries about what a call has. */

/** Rows of something that calls have. */
interface OfCalls {
  organization_id: SQLiteColumn;
  call_id: SQLiteColumn;
}

/** What an entry says of such a row: beside its own id, whose call it is. */
export function subjectOfCall({ organization_id, call_id }: OfCalls) {
  const owner = selectColumn(calls.organization_user_id, eq(calls.id, call_id));
  return { organization_id, call_id, organization_user_id: owner };
}

/** A verb that lists what the call in a path has, also while it goes on, and records that in the access log. */
export function recordedListOfCall<Item>(
  resource: "participant" | "consent",
  list: PreparedQuery<ReachedCall, Item>,
) {
  const entry = entriesWhere(resource, calls, {
    organization_id: calls.organization_id,
    resource_id: null,
    call_id: calls.id,
    organization_user_id: calls.organization_user_id,
  })((call: Placeholders<ReachedCall>) => callWithinReach(call));
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

/** The entry of who looks for a participant by a reference. */
export const searchEntry = entryOfOrganization("participant");

import { eq } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { builder, type Placeholders } from "../../database/queries.ts";
import { calls } from "../../database/schema.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { callWithinReach, type ReachedCall } from "./calls.sql.ts";

/* Entries about what a call has. */

/** Rows of something that calls have. */
interface OfCalls {
  organization_id: SQLiteColumn;
  call_id: SQLiteColumn;
}

/** What an entry says of such a row: beside its own id, whose call it is. */
export function subjectOfCall({ organization_id, call_id }: OfCalls) {
  const owner = builder.select({ id: calls.organization_user_id }).from(calls).where(eq(calls.id, call_id));
  return { organization_id, call_id, organization_user_id: owner };
}

/** The entry of a list of what the call in a path has. */
export const listEntry = (resource: "participant" | "consent") =>
  accessEntries(resource, (call: Placeholders<ReachedCall>) => ({
    organization_id: calls.organization_id,
    call_id: calls.id,
    organization_user_id: calls.organization_user_id,
    from: calls,
    where: callWithinReach(call),
  }));

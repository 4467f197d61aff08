import { and, eq, exists, getTableColumns, type SQL } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { calls, organizationUsers } from "../../database/schema.ts";
import { type Reach, reachOf, withinReach } from "../organization_users/organization_users.sql.ts";
import type { CallPath } from "./calls.schemas.ts";

export const callColumns = getTableColumns(calls);

/** Which call a path names, and who asks for it, as values of a query. */
export interface ReachedCall extends Reach {
  /** The organization user whom the path names; `organization_user_id` is the caller's own. */
  owner_id: number;
  call_id: number;
}

/** The values by which queries find the call of a path for a caller. */
export const reachedCall = (caller: Caller, { organization_user_id, call_id }: CallPath): ReachedCall => ({
  ...reachOf(caller),
  owner_id: organization_user_id,
  call_id,
});

/** True for the call of the path, where the caller reaches the organization user whom the path names. */
export function callWithinReach(
  call: { [Name in keyof ReachedCall]: Value<ReachedCall[Name]> },
): SQL | undefined {
  const owner = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(and(eq(organizationUsers.id, call.owner_id), withinReach(call)));
  return and(
    eq(calls.id, call.call_id),
    eq(calls.organization_id, call.organization_id),
    eq(calls.organization_user_id, call.owner_id),
    exists(owner),
  );
}

/** Selects the id of the call of the path, where it is within reach. */
export const reachedCallId = (call: Placeholders<ReachedCall>) =>
  builder.select({ id: calls.id }).from(calls).where(callWithinReach(call));

/** The call of the path, where it is within reach. */
export const callOfPath = namedQuery((call: Placeholders<ReachedCall>) =>
  builder.select(callColumns).from(calls).where(callWithinReach(call)),
);

/** For the platform, which names calls by keys of its own. */
export const callByKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder.select(callColumns).from(calls).where(eq(calls.key, key)),
);

/** Selects the id of the call that the platform names by its key. */
export const callIdByKey = (key: Value<string>) =>
  builder.select({ id: calls.id }).from(calls).where(eq(calls.key, key));

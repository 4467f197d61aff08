// TEMPORARY
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import type { Rule } from "../../database/legacy_rules.ts";
import { calls, organizationUsers } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { withinReach } from "../organization_users/organization_users.service.ts";
import type { CallPath } from "./calls.schemas.ts";
/** SQL that is true for the call of the path, where the caller reaches the organization user that it names. */
export function callWithinReach(
  caller: Caller,
  { organization_user_id, call_id }: CallPath,
): SQL | undefined {
  return and(
    eq(calls.id, call_id),
    eq(calls.organization_id, caller.organization_id),
    eq(calls.organization_user_id, organization_user_id),
    sql`exists (
      select 1 from ${organizationUsers}
      where ${organizationUsers.id} = ${organization_user_id} and ${withinReach(caller)})`,
  );
}
export const callMissing = (key: string): Rule => ({
  broken: sql`not exists (select 1 from calls where key = ${key})`,
  error: notFound("Call"),
});

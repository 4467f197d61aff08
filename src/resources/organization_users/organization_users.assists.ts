import { and, eq, type SQLWrapper, sql } from "drizzle-orm";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Value } from "../../database/queries.ts";
import type { Rule } from "../../database/rules.ts";
import { organizationUserAssists, organizationUsers } from "../../database/schema.ts";
import { unprocessable } from "../../http/errors.ts";
import { includesRole } from "../roles/roles.sql.ts";

interface Assists {
  organization_id: Value<number>;
  /** The id of the organization user; null for somebody new. */
  assistant: SQLWrapper;
  /** The ids of whom the user assists, as JSON text; null leaves them as they are. */
  assists: SQLWrapper;
}

/**
 * What holds for every list of assisted providers. One who was assisted before can stay on the list without being a
 * provider any more: the calls remain.
 *
 * @param roles the roles that the assistant has or will have, as JSON text
 */
export function assistsRules({
  organization_id,
  assistant,
  assists,
  roles,
}: Assists & { roles: SQLWrapper }): Rule[] {
  const provider = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(
      and(
        eq(organizationUsers.organization_id, organization_id),
        eq(organizationUsers.id, sql`assisted.value`),
        includesRole(organizationUsers.roles, "provider"),
      ),
    );
  const assistedBefore = builder
    .select({ id: organizationUserAssists.provider_id })
    .from(organizationUserAssists)
    .where(
      and(
        eq(organizationUserAssists.assistant_id, assistant),
        eq(organizationUserAssists.provider_id, sql`assisted.value`),
      ),
    );
  return [
    {
      broken: sql`json_array_length(${assists}) > 0 and not ${includesRole(roles, "provider_assistant")}`,
      refusal: () => unprocessable("user.assists: is for those who have the role provider_assistant"),
    },
    {
      broken: sql`exists (select 1 from json_each(${assists}) as assisted
        where not exists ${provider} and not exists ${assistedBefore})`,
      refusal: () => unprocessable("user.assists: must name providers of the organization"),
    },
  ];
}

/** The statement that stores whom somebody assists who assisted nobody. */
export const insertAssists = ({ organization_id, assistant, assists }: Assists) =>
  insertSelect(
    organizationUserAssists,
    { organization_id, assistant_id: sql<number>`${assistant}`, provider_id: sql<number>`assisted.value` },
    sql`from json_each(${assists}) as assisted`,
  );

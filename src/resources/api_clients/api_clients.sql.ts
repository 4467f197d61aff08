import { and, eq, getTableColumns, isNull, type Placeholder, type SQL } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { apiClients, organizations, organizationUsers } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { OwnPath } from "../../http/wire.ts";
import { accessEntries, entriesOf } from "../access_logs/access_logs.entries.ts";
import { hasAccount } from "../organization_users/organization_users.sql.ts";

const { secret_digest: _, ...columns } = getTableColumns(apiClients);

export const apiClientColumns = columns;

export const apiClientWrites = tableWrites(apiClients, apiClientColumns);

/** The member concerned is the one as whom the client acts. */
const actsAs = { organization_user_id: apiClients.organization_user_id };

export const apiClientEntry = entriesOf("api_client", apiClients, actsAs);

const isOfPath = ({ organization_id, id }: Placeholders<OwnPath>) =>
  hasValues(apiClients, { organization_id, id });

/** The entry of the access log about a client that is not revoked. */
export const revocationEntry = accessEntries("api_client", (path: Placeholders<OwnPath>) => ({
  ...actsAs,
  organization_id: apiClients.organization_id,
  resource_id: apiClients.id,
  from: apiClients,
  where: and(isOfPath(path), isNull(apiClients.revoked_at)),
}));

/** Revokes clients that are not revoked yet. */
export const revokeClients = (condition: SQL | undefined, now: Placeholder) =>
  builder
    .update(apiClients)
    .set({ revoked_at: now, updated_at: now })
    .where(and(condition, isNull(apiClients.revoked_at)));

export const revokeClient = preparedQuery((path: Placeholders<OwnPath & { now: number }>) =>
  revokeClients(isOfPath(path), path.now).returning({ id: apiClients.id }),
);

/** Who acts through a client that is not revoked, and the digest of its secret. */
export const callerOfClient = preparedQuery(({ client_id }: Placeholders<{ client_id: string }>) =>
  builder
    .select({
      api_client_id: columnAs(apiClients.id, "api_client_id"),
      organization_id: apiClients.organization_id,
      organization_user_id: apiClients.organization_user_id,
      roles: organizationUsers.roles,
      require_acting_user: organizations.require_acting_user,
      secret_digest: apiClients.secret_digest,
    })
    .from(apiClients)
    .innerJoin(organizations, eq(organizations.id, apiClients.organization_id))
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(
      and(eq(apiClients.client_id, client_id), isNull(apiClients.revoked_at), hasAccount(organizationUsers)),
    ),
);

/** The roles of the user as whom a client acts: none after the end of the membership, no row once the client is revoked. */
export const rolesOfCaller = preparedQuery(
  ({ organization_id, api_client_id }: Placeholders<Pick<Caller, "organization_id" | "api_client_id">>) =>
    builder
      .select({ roles: organizationUsers.roles })
      .from(apiClients)
      .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
      .where(
        and(hasValues(apiClients, { organization_id, id: api_client_id }), isNull(apiClients.revoked_at)),
      ),
);

import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  gte,
  isNull,
  ne,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Caller } from "../../context.ts";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { apiClients, organizations, organizationUsers } from "../../database/schema.ts";
import { isNewest, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { totalOf } from "../../database/totals.ts";
import type { OwnPath } from "../../http/wire.ts";
import { MAX_API_CLIENTS, MAX_API_CLIENTS_EVER } from "../../limits.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { idempotencyOfSecret } from "../idempotency_keys/idempotency_keys.sql.ts";
import { hasAccount } from "../organization_users/organization_users.sql.ts";
import { includesRole } from "../roles/roles.sql.ts";
import { REVOKE_LOST_CLIENT } from "./api_clients.refusals.ts";

const { secret_digest: _, ...columns } = getTableColumns(apiClients);

export const apiClientColumns = columns;

export const apiClientWrites = tableWrites(apiClients, apiClientColumns);

const { organization_id, organization_user_id } = apiClients;

/** The member concerned is the one as whom the client acts. */
const clientEntries = entriesWhere("api_client", apiClients, { organization_id, organization_user_id });

export const newestClientEntry = clientEntries((_: object) => isNewest(apiClients));

const isInUse = isNull(apiClients.revoked_at);

/** The response to a creation shows the secret. */
export const clientIdempotency = idempotencyOfSecret<Row<typeof apiClientColumns>>(REVOKE_LOST_CLIENT);

/** Revokes clients that are not revoked yet. */
export const revokeClients = (condition: SQL | undefined, now: Placeholder) =>
  builder.update(apiClients).set({ revoked_at: now, updated_at: now }).where(and(condition, isInUse));

/** The clients that act as an organization user. So many that a text can name them. */
export const clientsOfUser = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  selectColumn(
    apiClients.id,
    hasValues(apiClients, { organization_id, organization_user_id: id }),
    isInUse,
  ).orderBy(asc(apiClients.id)),
);

/**
 * Whether the organization has all the clients that it can have, and whether as many were made as it can ever make. As numbers, each
 * creation would change them for others.
 */
export const clientQuota = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) => {
  const inUse = builder.$count(apiClients, and(eq(apiClients.organization_id, organization_id), isInUse));
  return builder
    .select({
      is_full: gte(inUse, MAX_API_CLIENTS).mapWith(Boolean).as("is_full"),
      made_all: gte(totalOf("api_clients", organization_id), MAX_API_CLIENTS_EVER)
        .mapWith(Boolean)
        .as("made_all"),
    })
    .from(sql`(select 1)`);
});

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
    .where(and(eq(apiClients.client_id, client_id), isInUse, hasAccount(organizationUsers))),
);

type CallerKey = Placeholders<Pick<Caller, "organization_id" | "api_client_id">>;

const selectRoles = ({ organization_id, api_client_id }: CallerKey, condition?: SQL) =>
  builder
    .select({ roles: organizationUsers.roles })
    .from(apiClients)
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(and(hasValues(apiClients, { organization_id, id: api_client_id }), isInUse, condition));

/** The roles of the user as whom a client acts: none after the end of the membership, no row once the client is revoked. */
export const rolesOfCaller = preparedQuery((caller: CallerKey) => selectRoles(caller));

/** True where the client acts as an organization_admin. */
export const isAdministrator = (caller: CallerKey) =>
  exists(selectRoles(caller, includesRole(organizationUsers.roles, "organization_admin")));

/** The statements of one transaction that revoke a client, if it is not revoked, and record that. */
const revocationWhere = <Values extends OwnPath>(
  condition: (values: Placeholders<Values>) => SQL | undefined = () => undefined,
) => {
  function isRevocable(values: Placeholders<Values>) {
    const { organization_id, id } = values as Placeholders<OwnPath>;
    return and(hasValues(apiClients, { organization_id, id }), condition(values));
  }
  return {
    record: clientEntries<Values>((values) => and(isRevocable(values), isInUse)),
    revoke: preparedQuery((values: Placeholders<Values & { now: number }>) =>
      revokeClients(isRevocable(values as Placeholders<Values>), values.now).returning({ id: apiClients.id }),
    ),
  };
};

export type RevocationOf<Values extends OwnPath> = ReturnType<typeof revocationWhere<Values>>;

/** What the platform revokes. */
export const revocation = revocationWhere<OwnPath>();

/** What a client revokes: not itself, and nothing if it does not act as an administrator. */
export const ownRevocation = revocationWhere(
  (values: Placeholders<OwnPath & Pick<Caller, "api_client_id">>) =>
    and(ne(apiClients.id, values.api_client_id), isAdministrator(values)),
);

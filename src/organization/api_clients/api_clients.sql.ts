import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  gte,
  isNull,
  lt,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Caller } from "../../context.ts";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { isNewest, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { totalOf } from "../../database/totals.ts";
import type { OwnPath } from "../../http/wire.ts";
import { MAX_API_CLIENTS, MAX_API_CLIENTS_EVER } from "../../limits.ts";
import { idempotencyOfSecret } from "../idempotency_keys/idempotency_keys.sql.ts";
import { hasAccount } from "../members/members.sql.ts";
import { organizationUsers } from "../members/organization_users.table.ts";
import { organizations } from "../organizations/organizations.table.ts";
import { includesRole } from "../roles/roles.sql.ts";
import { REVOKE_LOST_CLIENT } from "./api_clients.refusals.ts";
import { apiClients } from "./api_clients.table.ts";

const { secret_digest: _, ...columns } = getTableColumns(apiClients);

export const apiClientColumns = columns;

export const apiClientWrites = tableWrites(apiClients, apiClientColumns);

const { organization_id, organization_user_id } = apiClients;

const clientEntries = entriesWhere("api_client", apiClients, { organization_id, organization_user_id });

const isOwn = ({ organization_id, id }: Placeholders<OwnPath>) =>
  hasValues(apiClients, { organization_id, id });

export const clientEntry = clientEntries(isOwn);

export const newestClientEntry = clientEntries((_: object) => isNewest(apiClients));

const isInUse = isNull(apiClients.revoked_at);

export const clientIdempotency = idempotencyOfSecret<Row<typeof apiClientColumns>>(REVOKE_LOST_CLIENT);

export const revokeClients = (condition: SQL | undefined, now: Placeholder) =>
  builder.update(apiClients).set({ revoked_at: now, updated_at: now }).where(and(condition, isInUse));

export const clientInUse = preparedQuery((path: Placeholders<OwnPath>) =>
  selectColumn(apiClients.id, isOwn(path), isInUse),
);

export const revokeClient = preparedQuery((path: Placeholders<OwnPath & { now: number }>) =>
  revokeClients(isOwn(path), path.now).returning({ id: apiClients.id }),
);

/** Few enough for an error message to list them. */
export const clientsOfUser = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  selectColumn(
    apiClients.id,
    hasValues(apiClients, { organization_id, organization_user_id: id }),
    isInUse,
  ).orderBy(asc(apiClients.id)),
);

/** Booleans, because counts would make all creations conflict with each other. */
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

export const callerOfClient = preparedQuery(({ client_id }: Placeholders<{ client_id: string }>) =>
  builder
    .select({
      api_client_id: columnAs(apiClients.id, "api_client_id"),
      organization_id: apiClients.organization_id,
      organization_user_id: apiClients.organization_user_id,
      roles: organizationUsers.roles,
      scopes: apiClients.scopes,
      require_acting_user: organizations.require_acting_user,
      is_suspended: organizations.is_suspended,
      secret_digest: apiClients.secret_digest,
      expires_at: apiClients.expires_at,
      last_used_at: apiClients.last_used_at,
    })
    .from(apiClients)
    .innerJoin(organizations, eq(organizations.id, apiClients.organization_id))
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(and(eq(apiClients.client_id, client_id), isInUse, hasAccount(organizationUsers))),
);

export const noteFirstUse = preparedQuery(
  (use: Placeholders<{ api_client_id: number; now: number; day_began_at: number }>) =>
    builder
      .update(apiClients)
      .set({ last_used_at: use.now })
      .where(
        and(
          eq(apiClients.id, use.api_client_id),
          or(isNull(apiClients.last_used_at), lt(apiClients.last_used_at, use.day_began_at)),
        ),
      ),
);

type CallerKey = Placeholders<Pick<Caller, "organization_id" | "api_client_id">>;

const selectRights = ({ organization_id, api_client_id }: CallerKey, condition?: SQL) =>
  builder
    .select({ roles: organizationUsers.roles, scopes: apiClients.scopes, expires_at: apiClients.expires_at })
    .from(apiClients)
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(and(hasValues(apiClients, { organization_id, id: api_client_id }), isInUse, condition));

export const ownClientColumns = { ...apiClientColumns, roles: organizationUsers.roles };

export const ownClient = preparedQuery(({ organization_id, api_client_id }: CallerKey) =>
  builder
    .select(ownClientColumns)
    .from(apiClients)
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(and(hasValues(apiClients, { organization_id, id: api_client_id }), isInUse)),
);

/** No row once the client is revoked; no roles once the membership of its user has ended. */
export const rightsOfCaller = preparedQuery((caller: CallerKey) => selectRights(caller));

export const isAdministrator = (caller: CallerKey) =>
  exists(selectRights(caller, includesRole(organizationUsers.roles, "organization_admin")));

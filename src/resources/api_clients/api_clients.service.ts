import { and, asc, eq, isNull, notExists, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { digest, randomSecret } from "../../database/digest.ts";
import { bytesOf } from "../../database/hex.ts";
import { builder, namedQuery, type Placeholders, runFirst } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { apiClients, organizationUsers } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { PageWindow } from "../../http/pagination.ts";
import { hasAccount } from "../organization_users/organization_users.sql.ts";
import { listOfOrganization, organizationMissing } from "../organizations/organizations.sql.ts";
import type { createApiClientBody, IssuedApiClient } from "./api_clients.schemas.ts";
import { apiClientColumns, revokeClients } from "./api_clients.sql.ts";

/** Only the secret's digest is stored. */
export async function createApiClient(
  { db, now }: Context,
  organization_id: number,
  { name, organization_user_id }: z.output<typeof createApiClientBody>["api_client"],
): Promise<IssuedApiClient> {
  const client_secret = randomSecret(32);
  const client = await insertClient(db, {
    organization_id,
    organization_user_id,
    name,
    client_id: randomSecret(16),
    secret_digest: await digest(client_secret),
    now,
  });
  return { ...client, client_secret };
}

interface NewClient {
  organization_id: number;
  organization_user_id: number;
  name: string;
  client_id: string;
  secret_digest: string;
  now: number;
}

const insertClient = namedWrite((client: Placeholders<NewClient>) => {
  const { organization_id, organization_user_id, name, client_id, secret_digest, now } = client;
  const organizationUser = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(
      and(
        eq(organizationUsers.organization_id, organization_id),
        eq(organizationUsers.id, organization_user_id),
        hasAccount(organizationUsers),
      ),
    );
  return {
    rules: [
      organizationMissing(organization_id),
      {
        broken: notExists(organizationUser),
        refusal: () => unprocessable("api_client.organization_user_id: is not a user of the organization"),
      },
    ],
    statements: [
      builder
        .insert(apiClients)
        .values({
          organization_id,
          organization_user_id,
          name,
          client_id,
          secret_digest,
          created_at: now,
          updated_at: now,
        })
        .returning(apiClientColumns),
    ],
  };
});

/** All API clients of an organization, revoked ones too. */
export const listApiClients = listOfOrganization(
  "api_clients",
  namedQuery(({ organization_id, limit, offset }: Placeholders<{ organization_id: number } & PageWindow>) =>
    builder
      .select(apiClientColumns)
      .from(apiClients)
      .where(eq(apiClients.organization_id, organization_id))
      .orderBy(asc(apiClients.id))
      .limit(limit)
      .offset(offset),
  ),
);

export async function revokeApiClient({ db, now }: Context, id: number): Promise<void> {
  const revoked = await runFirst(db, revokeClient({ id, now }));
  if (!revoked) throw notFound("API client");
}

const revokeClient = namedQuery(({ id, now }: Placeholders<{ id: number; now: number }>) =>
  revokeClients(eq(apiClients.id, id), now).returning({ id: apiClients.id }),
);

/** Who acts through a client, and the digest of its secret. */
export interface ClientRecord {
  caller: Caller;
  secret_digest: Uint8Array;
}

/** null where the client is unknown or revoked, or its user has no account. */
export async function findClient(db: Database, client_id: string): Promise<ClientRecord | null> {
  const row = await runFirst(db, clientRecord({ client_id }));
  if (!row) return null;
  const { secret_digest, ...caller } = row;
  return { caller, secret_digest: bytesOf(secret_digest) };
}

const clientRecord = namedQuery(({ client_id }: Placeholders<{ client_id: string }>) =>
  builder
    .select({
      api_client_id: sql<number>`${apiClients.id}`.as("api_client_id"),
      organization_id: apiClients.organization_id,
      organization_user_id: apiClients.organization_user_id,
      user_id: organizationUsers.user_id,
      roles: organizationUsers.roles,
      secret_digest: apiClients.secret_digest,
    })
    .from(apiClients)
    .innerJoin(organizationUsers, eq(organizationUsers.id, apiClients.organization_user_id))
    .where(
      and(eq(apiClients.client_id, client_id), isNull(apiClients.revoked_at), hasAccount(organizationUsers)),
    ),
);

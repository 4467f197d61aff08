import { and, eq, isNull, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { digest, randomSecret } from "../../database/digest.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { apiClients, organizationUsers } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { organizationMissing } from "../organizations/organizations.service.ts";
import type { createApiClientBody } from "./api_clients.schemas.ts";

export type IssuedApiClient = Awaited<ReturnType<typeof createApiClient>>;

/** The secret is in the answer and nowhere else: only its digest is stored. */
export async function createApiClient(
  { db, now }: Context,
  organization_id: number,
  { name, organization_user_id }: z.output<typeof createApiClientBody>["api_client"],
) {
  const client_id = randomSecret(16);
  const client_secret = randomSecret(32);
  const secret_digest = await digest(client_secret);
  const organizationUser = sql`
    select 1 from organization_users where organization_id = ${organization_id} and id = ${organization_user_id}`;
  const client = await writeUnderRules(
    db,
    [
      organizationMissing(organization_id),
      {
        broken: sql`not exists (${organizationUser})`,
        error: unprocessable("api_client.organization_user_id: is not a user of the organization"),
      },
    ],
    [
      db
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
        .returning({ id: apiClients.id }),
    ],
  );
  return { id: client.id, name, organization_user_id, client_id, client_secret };
}

export async function revokeApiClient({ db, now }: Context, id: number) {
  const revoked = await db
    .update(apiClients)
    .set({ revoked_at: now, updated_at: now })
    .where(and(eq(apiClients.id, id), isNull(apiClients.revoked_at)))
    .returning({ id: apiClients.id });
  if (revoked.length === 0) throw notFound("API client");
}

/** Who acts through a client, and the digest of its secret. */
export interface ClientRecord {
  caller: Caller;
  secret_digest: string;
}

/** null where the client is unknown or revoked. */
export async function findClient(db: Database, client_id: string): Promise<ClientRecord | null> {
  const row = await db
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
    .where(and(eq(apiClients.client_id, client_id), isNull(apiClients.revoked_at)))
    .get();
  if (!row) return null;
  const { secret_digest, ...caller } = row;
  return { caller, secret_digest };
}

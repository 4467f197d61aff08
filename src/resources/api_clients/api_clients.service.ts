import type * as z from "zod";
import { digest, randomSecret } from "../../bytes/digest.ts";
import { bytesOfHex } from "../../bytes/hex.ts";
import type { Caller, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { apiClients } from "../../database/schema.ts";
import type { OwnPath } from "../../http/wire.ts";
import { CLIENT_ID_BYTES } from "../../limits.ts";
import { userWithAccount } from "../organization_users/organization_users.sql.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { listOfOrganization, organizationById } from "../organizations/organizations.sql.ts";
import { newApiClient } from "./api_clients.merge.ts";
import { apiClientNotFound } from "./api_clients.refusals.ts";
import type { createApiClientBody, IssuedApiClient } from "./api_clients.schemas.ts";
import {
  apiClientColumns,
  apiClientEntry,
  apiClientWrites,
  callerOfClient,
  revocationEntry,
  revokeClient,
} from "./api_clients.sql.ts";

export const listApiClients = listOfOrganization(apiClients, apiClientColumns);

/** Only the secret's digest is stored. */
export async function createApiClient(
  context: Context,
  organization_id: number,
  input: z.output<ReturnType<typeof createApiClientBody>>["api_client"],
): Promise<IssuedApiClient> {
  const { db, shard, now } = context;
  const client_id = randomSecret(CLIENT_ID_BYTES, shard);
  const client_secret = randomSecret(32);
  const secret_digest = await digest(client_secret);
  const client = await decideAndWrite(
    db,
    [
      organizationById({ id: organization_id }),
      userWithAccount({ organization_id, id: input.organization_user_id }),
    ],
    ([organization], [organizationUser]) => {
      if (!organization) throw organizationNotFound();
      const known = { organization_id, organizationUser, client_id, secret_digest };
      return {
        writes: [apiClientWrites.insert(newApiClient(known, input, now))],
        entries: [apiClientEntry.ofNewest(context, "create", {})],
      };
    },
  );
  return { ...client, client_secret };
}

export async function revokeApiClient(context: Context, path: OwnPath): Promise<void> {
  const [, [revoked]] = await runBatch(context.db, [
    revocationEntry(context, "delete", path),
    revokeClient({ ...path, now: context.now }),
  ]);
  if (!revoked) throw apiClientNotFound();
}

/** Who acts through a client, and the digest of its secret. */
export interface ClientRecord {
  caller: Caller;
  secret_digest: Uint8Array;
}

/** null where the client is unknown or revoked, or its user has no account. */
export async function findClient(db: Database, client_id: string): Promise<ClientRecord | null> {
  const row = await runFirst(db, callerOfClient({ client_id }));
  if (!row) return null;
  const { secret_digest, ...caller } = row;
  return { caller, secret_digest: bytesOfHex(secret_digest) };
}

import type * as z from "zod";
import { digest, randomSecret } from "../../bytes/digest.ts";
import { bytesOfHex } from "../../bytes/hex.ts";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { pinnedShard } from "../../database/database.ts";
import { decideAndWrite, type Idempotency } from "../../database/decide_and_write.ts";
import { newShardOfClient } from "../../database/moves.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { apiClients } from "../../database/schema.ts";
import { envOfShard, isSharded, shardOf } from "../../database/shards.ts";
import type { PageQuery } from "../../http/pagination.ts";
import type { OwnPath } from "../../http/wire.ts";
import { CLIENT_ID_BYTES } from "../../limits.ts";
import { userWithAccount } from "../organization_users/organization_users.sql.ts";
import { listOfOrganization } from "../organizations/organizations.sql.ts";
import { type Author, asAdministrator, asPlatform } from "../roles/roles.authors.ts";
import { administeredOrganization } from "../roles/roles.policy.ts";
import { newApiClient } from "./api_clients.merge.ts";
import { apiClientNotFound, clientRevokesItself } from "./api_clients.refusals.ts";
import type { ApiClient, createApiClientBody, IssuedApiClient } from "./api_clients.schemas.ts";
import {
  apiClientColumns,
  apiClientWrites,
  callerOfClient,
  clientIdempotency,
  clientQuota,
  newestClientEntry,
  ownRevocation,
  type RevocationOf,
  revocation,
} from "./api_clients.sql.ts";

export const listApiClients = listOfOrganization(apiClients, apiClientColumns);

/** The same for a client of an administrator. */
export const listOwnApiClients = (context: ClientContext, page: PageQuery) =>
  listApiClients(context, administeredOrganization(context.caller, apiClientNotFound), page);

type NewClient = z.output<ReturnType<typeof createApiClientBody>>["api_client"];

export const createApiClient = (context: Context, organization_id: number, input: NewClient) =>
  issueClient(context, asPlatform(organization_id), input);

export async function createOwnApiClient(context: ClientContext, input: NewClient) {
  const { caller } = context;
  const author = asAdministrator(caller, apiClientNotFound);
  // A replay is not decided again.
  administeredOrganization(caller, apiClientNotFound);
  return issueClient(context, author, input, { isOwn: true, idempotency: await clientIdempotency(context) });
}

/** Only the secret's digest is stored. */
async function issueClient<Known>(
  context: Context,
  author: Author<Known>,
  input: NewClient,
  { isOwn = false, idempotency }: { isOwn?: boolean; idempotency?: Idempotency<ApiClient> } = {},
): Promise<IssuedApiClient> {
  const { db, now } = context;
  const { organization_id } = author;
  const client_secret = randomSecret(32);
  const secret_digest = await digest(client_secret);
  const client = await decideAndWrite(
    db,
    [
      author.read,
      userWithAccount({ organization_id, id: input.organization_user_id }),
      clientQuota({ organization_id }),
    ],
    ([asking], [organizationUser], [quota]) => {
      author.require(asking);
      const isFull = quota?.is_full ?? false;
      const madeAll = isOwn && (quota?.made_all ?? false);
      const client_id = randomSecret(CLIENT_ID_BYTES, pinnedShard(context));
      const known = { organization_id, organizationUser, isFull, madeAll, client_id, secret_digest };
      return {
        writes: [apiClientWrites.insert(newApiClient(known, input, now))],
        entries: [newestClientEntry(context, "create", {})],
      };
    },
    { idempotency },
  );
  return { ...client, client_secret };
}

export const revokeApiClient = (context: Context, path: OwnPath) =>
  revoke(context, asPlatform(path.organization_id), revocation, path);

/** @throws ApiError 422 if the client would revoke itself: then nobody might be left to make another one */
export async function revokeOwnApiClient(context: ClientContext, id: number): Promise<void> {
  const { caller } = context;
  const { organization_id, api_client_id } = caller;
  const author = asAdministrator(caller, apiClientNotFound);
  const refusal = id === api_client_id ? clientRevokesItself : apiClientNotFound;
  await revoke(context, author, ownRevocation, { organization_id, api_client_id, id }, refusal);
}

async function revoke<Known, Path extends OwnPath>(
  context: Context,
  author: Author<Known>,
  { record, revoke }: RevocationOf<Path>,
  path: Path,
  refusal = apiClientNotFound,
): Promise<void> {
  const [[asking], , [revoked]] = await runBatch(context.db, [
    author.read,
    record(context, "delete", path),
    revoke({ ...path, now: context.now }),
  ]);
  author.require(asking);
  if (!revoked) throw refusal();
}

/** Who acts through a client, the digest of its secret, and the shard in which its organization lives. */
export interface ClientRecord {
  caller: Caller;
  secret_digest: Uint8Array;
  shard: number;
}

/**
 * Looks a client up, where its organization has moved in its new database. null where the client is unknown or revoked, or its user
 * has no account.
 *
 * @param env that of the shard which the client's id names
 */
export async function findClient(env: Env, client_id: string): Promise<ClientRecord | null> {
  const found = callerOfClient({ client_id });
  const [[row], [moved] = []] = isSharded(env)
    ? await runBatch(env.DB, [found, newShardOfClient({ client_id })])
    : [[await runFirst(env.DB, found)]];
  if (moved) return findClient(envOfShard(env, moved.shard), client_id);
  if (!row) return null;
  const { secret_digest, ...caller } = row;
  return { caller, secret_digest: bytesOfHex(secret_digest), shard: shardOf(env) };
}

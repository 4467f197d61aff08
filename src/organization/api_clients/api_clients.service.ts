import type * as z from "zod";
import { digest, randomSecret } from "../../bytes/digest.ts";
import { bytesOfHex } from "../../bytes/hex.ts";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { decideAndWrite, type Idempotency } from "../../database/decide_and_write.ts";
import { newShardOfClient } from "../../database/moves.ts";
import { requireFirst, runBatch, runFirst } from "../../database/queries.ts";
import { envOfShard, isSharded, shardOf } from "../../database/shards.ts";
import type { PageQuery } from "../../http/pagination.ts";
import { administeredOrganization } from "../../http/roles.ts";
import type { OwnPath } from "../../http/wire.ts";
import { CLIENT_ID_BYTES, CLIENT_SECRET_PREFIX, SECRET_HINT_LENGTH } from "../../limits.ts";
import { userWithAccount } from "../members/members.sql.ts";
import { listOfOrganization } from "../organizations/organizations.sql.ts";
import { type Author, asAdministrator, asPlatform } from "../roles/roles.authors.ts";
import { newApiClient } from "./api_clients.merge.ts";
import { apiClientNotFound, clientRevokesItself, invalidClient } from "./api_clients.refusals.ts";
import type { ApiClient, createApiClientBody, IssuedApiClient } from "./api_clients.schemas.ts";
import * as sql from "./api_clients.sql.ts";
import { apiClients } from "./api_clients.table.ts";

export const listApiClients = listOfOrganization(apiClients, sql.apiClientColumns);

export const listOwnApiClients = (context: ClientContext, page: PageQuery) =>
  listApiClients(context, administeredOrganization(context.caller), page);

export const requireOwnClient = ({ db, caller }: ClientContext) =>
  requireFirst(db, sql.ownClient(caller), invalidClient);

type NewClient = z.output<ReturnType<typeof createApiClientBody>>["api_client"];

export const createApiClient = (context: Context, organization_id: number, input: NewClient) =>
  issueClient(context, asPlatform(organization_id), input);

export async function createOwnApiClient(context: ClientContext, input: NewClient) {
  const { caller } = context;
  const author = asAdministrator(caller);
  // The roles are checked here too, because a replay is not decided again.
  administeredOrganization(caller);
  return issueClient(context, author, input, {
    isOwn: true,
    idempotency: await sql.clientIdempotency(context, {}),
  });
}

async function issueClient<Known>(
  context: Context,
  author: Author<Known>,
  input: NewClient,
  { isOwn = false, idempotency }: { isOwn?: boolean; idempotency?: Idempotency<ApiClient> } = {},
): Promise<IssuedApiClient> {
  const { now } = context;
  const { organization_id } = author;
  const client_secret = CLIENT_SECRET_PREFIX + randomSecret(32);
  const secret_digest = await digest(client_secret);
  const secret_hint = client_secret.slice(-SECRET_HINT_LENGTH);
  const client = await decideAndWrite(
    context,
    {
      author: author.read,
      user: userWithAccount({ organization_id, id: input.organization_user_id }),
      quota: sql.clientQuota({ organization_id }),
    },
    ({ author: [asking], user: [organizationUser], quota: [quota] }) => {
      const own = author.require(asking);
      const isFull = quota?.is_full ?? false;
      const madeAll = isOwn && (quota?.made_all ?? false);
      const client_id = randomSecret(CLIENT_ID_BYTES, context.shard);
      const limits = { organizationUser, own, isFull, madeAll };
      const known = { organization_id, ...limits, client_id, secret_digest, secret_hint };
      return {
        writes: [sql.apiClientWrites.insert(newApiClient(known, input, now))],
        entries: [sql.newestClientEntry(context, "create", {})],
      };
    },
    { idempotency },
  );
  return { ...client, client_secret };
}

export const revokeApiClient = (context: Context, { organization_id, id }: OwnPath) =>
  revoke(context, asPlatform(organization_id), id);

/**
 * A client cannot revoke itself: the organization might have no other one to create a new one.
 *
 * @throws ApiError 422
 */
export const revokeOwnApiClient = (context: ClientContext, id: number) =>
  revoke(context, asAdministrator(context.caller), id, context.caller.api_client_id);

async function revoke<Known>(context: Context, author: Author<Known>, id: number, own_id?: number) {
  const path = { organization_id: author.organization_id, id };
  const reads = { author: author.read, client: sql.clientInUse(path) };
  await decideAndWrite(context, reads, ({ author: [asking], client: [client] }) => {
    author.require(asking);
    if (!client) throw apiClientNotFound();
    if (id === own_id) throw clientRevokesItself();
    return {
      writes: [sql.clientEntry(context, "delete", path), sql.revokeClient({ ...path, now: context.now })],
    };
  });
}

export interface ClientRecord {
  caller: Caller;
  secret_digest: Uint8Array;
  last_used_at: number | null;
  is_suspended: boolean;
  shard: number;
}

/**
 * In the new database if its organization has moved. null if the client is unknown or revoked, or its user has no account.
 *
 * @param env the bindings of the shard that the client's id names
 * @param asked the shards that named another one. A move back that was interrupted leaves two shards that name each other
 */
export async function findClient(
  env: Env,
  client_id: string,
  asked: number[] = [],
): Promise<ClientRecord | null> {
  const found = sql.callerOfClient({ client_id });
  const [[row], [moved] = []] = isSharded(env)
    ? await runBatch(env.DB, [found, newShardOfClient({ client_id })])
    : [[await runFirst(env.DB, found)]];
  if (moved && !asked.includes(moved.shard))
    return findClient(envOfShard(env, moved.shard), client_id, [...asked, shardOf(env)]);
  if (!row) return null;
  const { secret_digest, last_used_at, is_suspended, ...caller } = row;
  return {
    caller,
    secret_digest: bytesOfHex(secret_digest),
    last_used_at,
    is_suspended,
    shard: shardOf(env),
  };
}

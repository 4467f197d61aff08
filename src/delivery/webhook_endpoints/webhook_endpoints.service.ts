import type * as z from "zod";
import type { Caller, ClientContext } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { isSameRow } from "../../database/merging.ts";
import { type BoundQuery, requireFirst, runAll } from "../../database/queries.ts";
import { isLoopback } from "../../http/loopback.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import type { OwnPath } from "../../http/wire.ts";
import { isWithin, type Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { type Author, asAdministrator } from "../../organization/roles/roles.authors.ts";
import { newWebhookSecret } from "../webhook_deliveries/webhook_deliveries.format.ts";
import { mergeEndpoint, newEndpoint, rotateSecret } from "./webhook_endpoints.merge.ts";
import { urlFault } from "./webhook_endpoints.policy.ts";
import * as refusals from "./webhook_endpoints.refusals.ts";
import type {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from "./webhook_endpoints.schemas.ts";
import * as sql from "./webhook_endpoints.sql.ts";

/** Not paged: an organization can have only a few. */
export async function listWebhookEndpoints({ db, caller }: ClientContext): Promise<WebhookEndpoint[]> {
  const organization_id = administeredOrganization(caller);
  return runAll(db, sql.endpointsOf({ organization_id }));
}

export const requireWebhookEndpoint = async (
  { db, caller }: ClientContext,
  id: number,
): Promise<WebhookEndpoint> =>
  requireFirst(db, sql.endpointById(ownPath(caller, id)), refusals.webhookEndpointNotFound);

export async function createWebhookEndpoint(
  context: ClientContext,
  input: z.output<ReturnType<typeof createWebhookEndpointBody>>["webhook_endpoint"],
): Promise<WebhookEndpointWithSecret> {
  const { now, caller } = context;
  const author = asLasting(caller);
  const organization_id = administeredOrganization(caller);
  const { organization_user_id: created_by_user_id } = caller;
  requireAllowedUrl(context, input.url);
  const secret = newWebhookSecret();
  const service_url = new URL(context.url).origin;
  const endpoint = await decideAndWrite(
    context,
    { member: author.read, quota: sql.endpointQuota({ organization_id }) },
    ({ member: [member], quota: [quota] }) => {
      author.require(member);
      const isFull = quota?.is_full ?? false;
      const known = { organization_id, secret, service_url, created_by_user_id, isFull };
      return {
        writes: [sql.endpointWrites.insert(newEndpoint(known, input, now))],
        entries: [sql.endpointEntry.ofNewest(context, "create", {})],
      };
    },
    { idempotency: await sql.endpointIdempotency(context, {}) },
  );
  return { ...endpoint, secret };
}

export async function updateWebhookEndpoint(
  context: ClientContext,
  id: number,
  input: z.output<ReturnType<typeof updateWebhookEndpointBody>>["webhook_endpoint"],
): Promise<WebhookEndpoint> {
  const { now, caller } = context;
  const own = ownPath(caller, id);
  if (input.url !== undefined) requireAllowedUrl(context, input.url);
  const { organization_user_id: user_id } = caller;
  const service_url = new URL(context.url).origin;
  return changeEndpoint(context, sql.endpointById(own), (endpoint) => {
    requireUnchanged(context, { secret: undefined });
    const next = mergeEndpoint({ endpoint, service_url, user_id }, input, now);
    return {
      writes: [sql.endpointWrites.update(endpoint, next)],
      entries: isSameRow(endpoint, next) ? [] : [sql.endpointEntry.of(context, "update", own)],
    };
  });
}

export async function rotateWebhookSecret(context: ClientContext, id: number) {
  const own = ownPath(context.caller, id);
  const secret = newWebhookSecret();
  const rotated = await changeEndpoint(context, sql.endpointWithSecrets(own), (endpoint) => ({
    writes: [sql.endpointWrites.update(endpoint, rotateSecret(endpoint, secret, context.now))],
    entries: [sql.endpointEntry.of(context, "update", own)],
  }));
  return { ...rotated, secret };
}

export async function deleteWebhookEndpoint(context: ClientContext, id: number): Promise<void> {
  const own = ownPath(context.caller, id);
  const writes = [sql.endpointEntry.of(context, "delete", own), sql.deleteEndpoint(own)] as const;
  await changeEndpoint(
    context,
    sql.endpointById(own),
    () => ({ writes: [...writes] }),
    asAdministrator(context.caller),
  );
}

const ownPath = (caller: Pick<Caller, "organization_id" | "roles">, id: number): OwnPath => ({
  organization_id: administeredOrganization(caller),
  id,
});

/** An endpoint and its secret last until an administrator deletes them, so the client must not expire. */
function asLasting(caller: Caller): Author<Rights> {
  const author = asAdministrator(caller);
  const require: typeof author.require = (member) => {
    const rights = author.require(member);
    if (!isWithin(rights, { ...rights, expires_at: null })) throw refusals.endpointOutlivesClient();
    return rights;
  };
  return { ...author, require };
}

/** The caller must still be an administrator when the decision is written. */
const changeEndpoint = <Endpoint, Result>(
  context: ClientContext,
  read: BoundQuery<Endpoint>,
  decide: (endpoint: Endpoint) => Decision<Result>,
  author = asLasting(context.caller),
): Promise<Result> => {
  const reads = { member: author.read, endpoint: read };
  return decideAndWrite(context, reads, ({ member: [member], endpoint: [endpoint] }) => {
    author.require(member);
    if (!endpoint) throw refusals.webhookEndpointNotFound();
    return decide(endpoint);
  });
};

function requireAllowedUrl({ url: ownUrl, settings: { OWN_HOSTS } }: ClientContext, url: string): void {
  const allowsLoopback = isLoopback(new URL(ownUrl).hostname);
  const fault = urlFault(url, { ownUrl, ownHosts: OWN_HOSTS, allowsLoopback });
  if (fault) throw refusals.urlNotAllowed(fault);
}

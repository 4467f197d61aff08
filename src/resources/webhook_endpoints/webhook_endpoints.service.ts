import type * as z from "zod";
import { base64Of } from "../../bytes/base64.ts";
import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { isSameRow } from "../../database/merging.ts";
import { runAll, runFirst } from "../../database/queries.ts";
import { isLoopback } from "../../http/loopback.ts";
import { WEBHOOK_SECRET_BYTES } from "../../limits.ts";
import { rolesOfCaller } from "../api_clients/api_clients.sql.ts";
import { administeredOrganization, requireRoles } from "../roles/roles.policy.ts";
import { mergeEndpoint, newEndpoint, rotateSecret } from "./webhook_endpoints.merge.ts";
import { urlFault } from "./webhook_endpoints.policy.ts";
import { urlNotAllowed, webhookEndpointNotFound } from "./webhook_endpoints.refusals.ts";
import type {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from "./webhook_endpoints.schemas.ts";
import {
  deleteEndpoint,
  endpointById,
  endpointEntry,
  endpointIdempotency,
  endpointQuota,
  endpointsOf,
  endpointWithSecrets,
  endpointWrites,
} from "./webhook_endpoints.sql.ts";

/** There are so few that they are not paged. */
export async function listWebhookEndpoints({ db, caller }: ClientContext): Promise<WebhookEndpoint[]> {
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  return runAll(db, endpointsOf({ organization_id }));
}

export async function requireWebhookEndpoint(
  { db, caller }: ClientContext,
  id: number,
): Promise<WebhookEndpoint> {
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  const endpoint = await runFirst(db, endpointById({ organization_id, id }));
  if (!endpoint) throw webhookEndpointNotFound();
  return endpoint;
}

export async function createWebhookEndpoint(
  context: ClientContext,
  input: z.output<ReturnType<typeof createWebhookEndpointBody>>["webhook_endpoint"],
): Promise<WebhookEndpointWithSecret> {
  const { db, now, caller } = context;
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  const { organization_user_id: created_by_user_id } = caller;
  requireAllowedUrl(context, input.url);
  const secret = newSecret();
  const service_url = new URL(context.url).origin;
  const endpoint = await decideAndWrite(
    db,
    [rolesOfCaller(caller), endpointQuota({ organization_id })],
    ([member], [quota]) => {
      administeredOrganization({ organization_id, roles: requireRoles(member) }, webhookEndpointNotFound);
      const isFull = quota?.is_full ?? false;
      const known = { organization_id, secret, service_url, created_by_user_id, isFull };
      return {
        writes: [endpointWrites.insert(newEndpoint(known, input, now))],
        entries: [endpointEntry.ofNewest(context, "create", {})],
      };
    },
    { idempotency: await endpointIdempotency(context) },
  );
  return { ...endpoint, secret };
}

export async function updateWebhookEndpoint(
  context: ClientContext,
  id: number,
  input: z.output<ReturnType<typeof updateWebhookEndpointBody>>["webhook_endpoint"],
): Promise<WebhookEndpoint> {
  const { db, now, caller } = context;
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  if (input.url !== undefined) requireAllowedUrl(context, input.url);
  const { organization_user_id: user_id } = caller;
  const service_url = new URL(context.url).origin;
  return decideAndWrite(
    db,
    [rolesOfCaller(caller), endpointById({ organization_id, id })],
    ([member], [endpoint]) => {
      administeredOrganization({ organization_id, roles: requireRoles(member) }, webhookEndpointNotFound);
      if (!endpoint) throw webhookEndpointNotFound();
      const next = mergeEndpoint({ endpoint, service_url, user_id }, input, now);
      return {
        writes: [endpointWrites.update(endpoint, next)],
        entries: isSameRow(endpoint, next)
          ? []
          : [endpointEntry.of(context, "update", { organization_id, id })],
      };
    },
  );
}

export async function rotateWebhookSecret(
  context: ClientContext,
  id: number,
): Promise<WebhookEndpointWithSecret> {
  const { db, now, caller } = context;
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  const secret = newSecret();
  const rotated = await decideAndWrite(
    db,
    [rolesOfCaller(caller), endpointWithSecrets({ organization_id, id })],
    ([member], [endpoint]) => {
      administeredOrganization({ organization_id, roles: requireRoles(member) }, webhookEndpointNotFound);
      if (!endpoint) throw webhookEndpointNotFound();
      return {
        writes: [endpointWrites.update(endpoint, rotateSecret(endpoint, secret, now))],
        entries: [endpointEntry.of(context, "update", { organization_id, id })],
      };
    },
  );
  return { ...rotated, secret };
}

export async function deleteWebhookEndpoint(context: ClientContext, id: number): Promise<void> {
  const { db, caller } = context;
  const organization_id = administeredOrganization(caller, webhookEndpointNotFound);
  const own = { organization_id, id };
  await decideAndWrite(db, [rolesOfCaller(caller), endpointById(own)], ([member], [endpoint]) => {
    administeredOrganization({ organization_id, roles: requireRoles(member) }, webhookEndpointNotFound);
    if (!endpoint) throw webhookEndpointNotFound();
    return { writes: [endpointEntry.of(context, "delete", own), deleteEndpoint(own)] };
  });
}

/** @throws ApiError 422 saying what would be right */
function requireAllowedUrl({ url: ownUrl, settings: { OWN_HOSTS } }: ClientContext, url: string): void {
  const allowsLoopback = isLoopback(new URL(ownUrl).hostname);
  const fault = urlFault(url, { ownUrl, ownHosts: OWN_HOSTS, allowsLoopback });
  if (fault) throw urlNotAllowed(fault);
}

/** As Standard Webhooks writes a secret. */
const newSecret = () => `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(WEBHOOK_SECRET_BYTES)))}`;

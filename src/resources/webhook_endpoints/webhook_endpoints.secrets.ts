import { gte, notExists, sql } from "drizzle-orm";
import { base64Of } from "../../base64.ts";
import type { ClientContext } from "../../context.ts";
import { builder, type Placeholders } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { webhookEndpoints } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_OLD_WEBHOOK_SECRETS, OLD_WEBHOOK_SECRET_LIFETIME, WEBHOOK_SECRET_BYTES } from "../../limits.ts";
import { administeredOrganization } from "../roles/roles.schemas.ts";
import type { WebhookEndpointWithSecret } from "./webhook_endpoints.schemas.ts";
import {
  endpointWhere,
  type OwnEndpoint,
  ownEndpoint,
  validSecrets,
  webhookEndpointColumns,
} from "./webhook_endpoints.sql.ts";

/** As Standard Webhooks writes a secret. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(WEBHOOK_SECRET_BYTES));
  return `whsec_${base64Of(bytes)}`;
}

/**
 * Gives an endpoint a new secret. Each old one goes on signing for a day, not only the last: a rotation may be repeated
 * because its response was lost, and then the receiver knows only the secret before both.
 */
export async function rotateWebhookSecret(
  { db, now, caller }: ClientContext,
  id: number,
): Promise<WebhookEndpointWithSecret> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  const secret = newSecret();
  const expires_at = now + OLD_WEBHOOK_SECRET_LIFETIME;
  return { ...(await replaceSecret(db, { organization_id, id, secret, expires_at, now })), secret };
}

interface NewSecret extends OwnEndpoint {
  secret: string;
  /** When the secret before it expires. */
  expires_at: number;
  now: number;
}

const replaceSecret = namedWrite((rotation: Placeholders<NewSecret>) => {
  const { secret, expires_at, now } = rotation;
  const oldSecrets = builder
    .select({ count: sql`(select count(*) ${validSecrets(now)})`.as("count") })
    .from(webhookEndpoints)
    .where(ownEndpoint(rotation));
  return {
    rules: [
      {
        broken: notExists(endpointWhere(ownEndpoint(rotation))),
        refusal: () => notFound("Webhook endpoint"),
      },
      {
        broken: gte(sql`${oldSecrets}`, MAX_OLD_WEBHOOK_SECRETS),
        refusal: () =>
          unprocessable(
            `The secret was rotated ${MAX_OLD_WEBHOOK_SECRETS} times within a day: wait until the first of these old secrets has expired`,
          ),
      },
    ],
    statements: [
      builder
        .update(webhookEndpoints)
        .set({
          secret: sql`${secret}`,
          previous_secrets: sql`json_insert((select json_group_array(json(old.value)) ${validSecrets(now)}),
            '$[#]', json_object('secret', ${webhookEndpoints.secret}, 'expires_at', ${expires_at}))`,
          updated_at: sql`${now}`,
        })
        .where(ownEndpoint(rotation))
        .returning(webhookEndpointColumns),
    ],
  };
});

import * as z from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { MAX_OLD_WEBHOOK_SECRETS } from "../limits.ts";
import type { WebhookReference } from "./operation.ts";
import { references } from "./references.ts";

/** What the service sends to the webhook endpoints of organizations, by type. */
export function webhooks(): ZodOpenApiPathsObject {
  const all = references.flatMap(({ tag, webhooks = {} }) =>
    Object.entries(webhooks).map(([type, webhook]) => [type, { post: webhookObject(tag, webhook) }] as const),
  );
  return Object.fromEntries(all);
}

function webhookObject(tag: string, webhook: WebhookReference): ZodOpenApiOperationObject {
  const { operationId, summary, description, schema, example } = webhook;
  schema.parse(example);
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [],
    requestParams: { header: z.object(headers) },
    requestBody: {
      required: true,
      description: "The event.",
      content: { "application/json": { schema, example } },
    },
    responses: {
      "2XX": { description: "The webhook has arrived. The body of the response is ignored." },
      410: { description: "The endpoint wants no more webhooks: it becomes inactive." },
      default: { description: "The webhook is sent again later." },
    },
  };
}

/** `v1,` and a digest of 32 bytes in base64, for each valid secret. */
const SIGNATURE = "v1,[A-Za-z0-9+/]{43}=";

/** The digits of the largest integer. */
const MAX_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

const headers = {
  "webhook-id": z
    .string()
    .max("ping_".length + 36)
    .regex(/^(evt_[0-9]+|ping_[0-9a-f-]{36})$/)
    .meta({
      description: "The same whenever this is sent: drop what has an id that you know.",
      param: { example: "evt_1042" },
    }),
  "webhook-timestamp": z
    .string()
    .max(MAX_DIGITS)
    .regex(/^[0-9]+$/)
    .meta({
      description: "When it is sent, in seconds since 1970.",
      param: { example: "1769853661" },
    }),
  "webhook-signature": z
    .string()
    .max(47 * (1 + MAX_OLD_WEBHOOK_SECRETS) + MAX_OLD_WEBHOOK_SECRETS)
    .regex(new RegExp(`^${SIGNATURE}( ${SIGNATURE})*$`))
    .meta({
      description: "`v1,` and a signature in base64; several are separated by spaces. See Standard Webhooks.",
      param: { example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=" },
    }),
};

import { createHmac } from "node:crypto";
import * as z from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { MAX_OLD_WEBHOOK_SECRETS } from "../limits.ts";
import type { WebhookReference } from "../openapi/operation.ts";
import { WEBHOOK_SECRET } from "../openapi/story.ts";
import { exampleFields, examplesOf, requireExamplesToMatch } from "./examples.ts";
import { references } from "./references.ts";

export function webhooks(): ZodOpenApiPathsObject {
  const all = references.flatMap(({ tag, webhooks = {} }) =>
    Object.entries(webhooks).map(([type, webhook]) => [type, { post: webhookObject(tag, webhook) }] as const),
  );
  return Object.fromEntries(all);
}

function webhookObject(tag: string, webhook: WebhookReference): ZodOpenApiOperationObject {
  const { operationId, summary, description, schema } = webhook;
  requireExamplesToMatch(operationId, webhook);
  const [first] = Object.values(examplesOf(webhook));
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [],
    requestParams: { header: sentHeaders(first as Sent) },
    requestBody: {
      required: true,
      description:
        "JSON. Verify the signature of the raw bytes before you parse them. Later versions may add keys.",
      content: { "application/json": { schema, ...exampleFields(webhook) } },
    },
    responses: {
      "2XX": { description: "The webhook was received. The body of the response is ignored." },
      410: {
        description: "The endpoint wants no more webhooks, and becomes inactive, unless this is a test.",
      },
      default: { description: "The event is sent again later. A test or a ping is not." },
    },
  };
}

/** `v1,` and a digest of 32 bytes in base64, for each valid secret. */
const SIGNATURE = "v1,[A-Za-z0-9+/]{43}=";
const SIGNATURE_LENGTH = "v1,".length + 44;

const MAX_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

interface Sent {
  id: number;
  timestamp: string;
}

/** The headers of a webhook, with a valid signature of the example, so that readers can test a receiver with it. */
function sentHeaders(sent: Sent) {
  const webhookId = sent.id ? `evt_${sent.id}` : "ping_0c6a4f0e-93a5-4b8e-8d0a-5b0f6f0f3f3d";
  const timestamp = String(Math.floor(Date.parse(sent.timestamp) / 1000) + 1);
  const key = Buffer.from(WEBHOOK_SECRET.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key)
    .update(`${webhookId}.${timestamp}.${JSON.stringify(sent)}`)
    .digest("base64");
  return z.object({
    "webhook-id": sentHeader(
      "ping_".length + 36,
      /^(evt_[0-9]+|(ping|test)_[0-9a-f-]{36})$/,
      "`evt_` followed by the id of the event. For a ping and for a test event, `ping_` or `test_` followed by a UUID. It stays the same when an event is sent again; pings and tests are sent once. Ignore a webhook whose id you have already processed.",
      webhookId,
    ),
    "webhook-timestamp": sentHeader(
      MAX_DIGITS,
      /^[0-9]+$/,
      "When the webhook was sent, in seconds since 1970. Refuse a webhook that was sent more than five minutes ago.",
      timestamp,
    ),
    "webhook-signature": sentHeader(
      (1 + MAX_OLD_WEBHOOK_SECRETS) * (SIGNATURE_LENGTH + 1) - 1,
      new RegExp(`^${SIGNATURE}( ${SIGNATURE})*$`),
      `\`v1,\` and the HMAC-SHA-256 of \`{webhook-id}.{webhook-timestamp}.{body}\` in base64, with the bytes of the endpoint's secret as its key. After a rotation of the secret there is one for each valid secret, separated by spaces: one of them must match. The example is computed with \`${WEBHOOK_SECRET}\` and the first example of the body, without white space.`,
      `v1,${signature}`,
    ),
  });
}

const sentHeader = (maxLength: number, pattern: RegExp, description: string, example: string) =>
  z.string().max(maxLength).regex(pattern).meta({ description, param: { example } });

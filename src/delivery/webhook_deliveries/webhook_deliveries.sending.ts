import type { Context } from "../../context.ts";
import { isLoopback } from "../../http/loopback.ts";
import { WEBHOOK_TIMEOUT } from "../../lifetimes.ts";
import type { Settings } from "../../settings.ts";
import { WEBHOOK_RESPONSE_LIMIT } from "../../tuning.ts";
import { validSecrets } from "../webhook_endpoints/webhook_endpoints.merge.ts";
import { urlFault } from "../webhook_endpoints/webhook_endpoints.policy.ts";
import { type Webhook, webhookHeaders } from "./webhook_deliveries.format.ts";
import { type Attempt, NO_ANSWER, NO_SUCCESS, REDIRECTED, UNREACHABLE } from "./webhook_deliveries.merge.ts";

export interface Target {
  url: string;
  secret: string;
  previous_secrets: { secret: string; expires_at: number }[];
  service_url: string | null;
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return REDIRECTED;
  return NO_SUCCESS;
}

/** Never throws for a failed request. */
export async function sendWebhook(
  { settings }: Pick<Context, "settings">,
  target: Target,
  webhook: Webhook,
): Promise<Attempt> {
  const at = Date.now();
  const failed = (error: string): Attempt => ({ at, response_status: null, error, retry_after: null });
  const reason = forbiddenNow(settings, target);
  if (reason) return failed(`The URL is not allowed: it ${reason}`);
  const headers = await webhookHeaders(webhook, secretsOf(target, at), at);
  const signal = AbortSignal.timeout(WEBHOOK_TIMEOUT);
  try {
    const response = await fetch(target.url, {
      method: "POST",
      redirect: "manual",
      headers,
      body: webhook.body,
      signal,
    });
    await readBeginning(response);
    return {
      at,
      response_status: response.status,
      error: errorOf(response.status),
      retry_after: response.headers.get("Retry-After"),
    };
  } catch {
    // The error may contain the URL, so it is not kept.
    return failed(signal.aborted ? NO_ANSWER : UNREACHABLE);
  }
}

/** The rules may have changed since the URL was set. */
function forbiddenNow({ OWN_HOSTS }: Settings, { url, service_url }: Target): string | undefined {
  const allowsLoopback = service_url !== null && isLoopback(new URL(service_url).hostname);
  return urlFault(url, { ownUrl: service_url ?? undefined, ownHosts: OWN_HOSTS, allowsLoopback });
}

const secretsOf = ({ secret, previous_secrets }: Target, now: number) => [
  secret,
  ...validSecrets(previous_secrets, now).map((old) => old.secret),
];

/** Lets the receiver finish a short response. Its status counts even if the body is cut off. */
async function readBeginning({ body }: Response): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (let length = 0; length < WEBHOOK_RESPONSE_LIMIT; ) {
      const { done, value } = await reader.read();
      if (done) return;
      length += value.byteLength;
    }
  } catch {
    // The body was cut off.
  }
  await reader.cancel().catch(() => {});
}

import {
  newWebhookSecret,
  type Webhook,
  webhookHeaders,
  webhookOf,
} from "../delivery/webhook_deliveries/webhook_deliveries.format.ts";
import { causeOf, credentialsWith, say, settingsFor, TEXT, UsageError, valuesOf } from "./cli_support.ts";
import { createClient } from "./client.ts";
import { type EventTypeOrFamily, newestEvent } from "./follow.ts";
import { sleep } from "./pauses.ts";

export const LISTEN_USAGE: string = `Usage: npx organization-video-visit-client listen --url URL --forward-to URL [--type TYPE] [--after ID]

Follows the events of your organization, and sends each one as a webhook to a server on your machine.

  --url URL         the address of the service
  --forward-to URL  the address of your server, such as http://localhost:4000/webhooks
  --type TYPE       only events of this type, or of a family of types such as 'call.*'
  --after ID        begins after the event with this id; by default with the events that occur from now on

The webhooks are signed with the secret in the environment variable WEBHOOK_SECRET, or else with a new one, which it prints. For
each event, it prints the type, the id and the status of your server's response. Whatever your server responds, the event is not
sent again. While nothing responds at the address, it waits and tries again. Stop it with Ctrl-C.

Exit status: 0 if you stopped it, 2 if the command is wrong, 3 if the service refused a request.

${credentialsWith("events:read")}
`;

const OPTIONS = { url: TEXT, "forward-to": TEXT, type: TEXT, after: TEXT };

/** In milliseconds: between two requests for new events, and between two attempts to reach the developer's server. */
const PAUSE = 1_000;

export async function listen(args: string[]): Promise<void> {
  const { url, "forward-to": server, type, after } = valuesOf(args, OPTIONS);
  const visits = createClient(settingsFor(url));
  const target = requireTarget(server);
  if (after !== undefined && !/^\d{1,15}$/.test(after))
    throw new UsageError("--after must be the id of an event.");
  const secret = requireSecret();
  const signal = untilStopped();
  try {
    const from = after === undefined ? await newestEvent(visits.listEvents, signal) : Number(after);
    if (!process.env.WEBHOOK_SECRET) say(`Secret: ${secret}`);
    say(`Sending the events after ${from} to ${target}. Press Ctrl-C to stop.`);
    for await (const event of visits.followEvents({
      type: type as EventTypeOrFamily,
      after: from,
      interval: PAUSE,
      signal,
    })) {
      const status = await forward(
        webhookOf({ ...event, timestamp: event.created_at }),
        secret,
        target,
        signal,
      );
      say(`${event.type} ${event.id} ${status}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function requireTarget(url = ""): string {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (!/^https?:$/.test(protocol ?? "") || username || password)
    throw new UsageError("--forward-to must be an address such as http://localhost:4000/webhooks.");
  return url;
}

/** The developer's own secret, so that a receiver can keep its settings, or a new one. */
function requireSecret(): string {
  const { WEBHOOK_SECRET: secret } = process.env;
  if (!secret) return newWebhookSecret();
  if (!/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(secret))
    throw new UsageError("WEBHOOK_SECRET must be whsec_ and then at least 24 bytes in base64, or unset.");
  return secret;
}

function untilStopped(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

/** Sends a webhook until something responds, and returns the status. */
async function forward(
  webhook: Webhook,
  secret: string,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  for (let failures = 0; ; failures++) {
    try {
      // Signed again each time, because receivers refuse an old signature.
      const headers = await webhookHeaders(webhook, [secret], Date.now());
      const { body } = webhook;
      const response = await fetch(target, { method: "POST", headers, body, redirect: "manual", signal });
      await response.body?.cancel().catch(() => {});
      return response.status;
    } catch (error) {
      signal.throwIfAborted();
      if (failures === 0)
        process.stderr.write(`No response from ${target} (${causeOf(error)}): waiting for one.\n`);
      await sleep(PAUSE, signal);
    }
  }
}

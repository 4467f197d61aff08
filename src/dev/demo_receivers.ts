/** What others receive of the service, on this machine: an organization's webhooks, and the mails that wrangler simulates. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { verifyWebhook, type WebhookEvent } from "../../dist/client/external/index.js";

/** A few more lines make a real receiver: see the guide to webhooks. */
export async function startReceiver() {
  let secret = "";
  const received: WebhookEvent[] = [];
  const server = createServer(async (request, response) => {
    const verified = await verifyWebhook(secret, request.headers, await text(request)).catch(() => null);
    if (verified) received.push(verified);
    response.writeHead(verified ? 204 : 400).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    useSecret(shown: string) {
      secret = shown;
    },
    /** What came with the right signature, when so many have come, or half a minute has passed. */
    async received(count: number) {
      for (let n = 0; received.length < count && n < 300; n++) await sleep(100);
      return received;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The link in the newest mail to an address, or null if none comes within some seconds, or the server is not wrangler's. */
export async function newestLinkTo(server: string, address: string): Promise<string | null> {
  const mails = `${server}/cdn-cgi/local/explorer/api/local/email/sending`;
  // biome-ignore lint/suspicious/noExplicitAny: wrangler's own API, whose shape it may change
  const read = async (url: string): Promise<any> => (await fetch(url)).json().catch(() => ({}));
  for (let n = 0; n < 50; n++) {
    const { result } = await read(`${mails}?per_page=100`);
    const found = result?.find(({ to }: { to: string[] }) => to.includes(address));
    if (found) {
      const { result: mail } = await read(`${mails}?email_id=${encodeURIComponent(found.messageId)}`);
      return /https?:\S+/.exec(mail.text)?.[0] ?? null;
    }
    await sleep(100);
  }
  return null;
}

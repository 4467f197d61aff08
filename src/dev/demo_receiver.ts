import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { verifyWebhook, type WebhookEvent } from "../../dist/client/external/index.js";

/** Receives an organization's webhooks on this machine. A real receiver needs only a few more lines: see the guide to webhooks. */
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
    /** Waits for `count` webhooks, at most 30 seconds, and returns those with a valid signature. */
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

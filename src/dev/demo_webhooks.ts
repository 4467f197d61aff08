/** A receiver of webhooks on this machine, for the demo. A few more lines make a real one: see the guide to webhooks. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "../../dist/client/external/index.js";

/** @param print is called with each webhook that arrives */
export async function startWebhookReceiver(print: (title: string, body: object) => void) {
  let secret = "";
  let received = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    try {
      const webhook = await verifyWebhook(secret, request.headers, body);
      received++;
      print(`✉ ${request.headers["webhook-id"]}, whose signature is right`, webhook);
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    useSecret(shown: string) {
      secret = shown;
    },
    /** Waits until so many have arrived, or half a minute has passed. */
    async waitFor(count: number) {
      for (let n = 0; received < count && n < 300; n++)
        await new Promise((resolve) => setTimeout(resolve, 100));
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

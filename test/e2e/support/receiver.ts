import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export interface Received {
  headers: Record<string, string>;
  /** The body as it was sent, unchanged. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body
  body: any;
  /** The time of arrival, in milliseconds. */
  at: number;
}

const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = (response: ServerResponse, received: Received, count: number) => void;

/** A local receiver of webhooks, which stops with the test file. By default it has any port, and accepts everything. */
export async function startReceiver(answer: Answer = (response) => response.writeHead(204).end(), port = 0) {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      const webhook = { headers, text, body: JSON.parse(text || "null"), at: Date.now() };
      received.push(webhook);
      answer(response, webhook, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  servers.push(server);
  const { port: own } = server.address() as AddressInfo;
  async function stop() {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  return { url: `http://127.0.0.1:${own}/visits`, port: own, received, stop };
}

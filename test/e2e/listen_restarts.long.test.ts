import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { json } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { platformCaller } from "./support/callers.ts";
import { eventually } from "./support/eventually.ts";
import { startListening } from "./support/listening.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

/** An address that stays the same, although the server gets another port when it restarts. */
async function aFixedAddress(target: () => string) {
  const proxy = createTcpServer((socket) => {
    const upstream = connect(Number(new URL(target()).port), "localhost");
    socket.pipe(upstream).pipe(socket);
    for (const each of [socket, upstream])
      each.on("error", () => [socket, upstream].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** A receiver that can stop, and start again at the same address. */
function aReceiver() {
  const received: number[] = [];
  const server = createServer(async (request, response) => {
    received.push(((await json(request)) as { id: number }).id);
    response.writeHead(204).end();
  });
  let port = 0;
  async function start() {
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    return `http://127.0.0.1:${port}/webhooks`;
  }
  async function stop() {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  onTestFinished(() => void server.close());
  return { received, start, stop };
}

it("listen loses, repeats and reorders no event while the service and the receiver restart", async () => {
  let server = await startServer();
  const { credentials, organization, base } = await anOrganization(server.url);
  const receiver = aReceiver();
  const command = startListening(
    credentials,
    ...["--url", await aFixedAddress(() => server.url), "--forward-to", await receiver.start()],
  );
  await command.secret();
  let added = 0;
  async function addUsers(count: number) {
    for (let n = 0; n < count; n++) {
      const email = `user-${added++}@${organization.slug}.example`;
      const user = { email, display_name: "User", roles: ["provider_assistant"] };
      expect((await platformCaller(server.url)("POST", `${base}/users`, { user })).status).toBe(201);
    }
  }
  const waitsForReceiver = (times: number) =>
    eventually(() =>
      expect(command.seen.stderr.match(/^No response from .*: waiting/gm)).toHaveLength(times),
    );

  await addUsers(2);
  await eventually(() => expect(receiver.received).toHaveLength(2));
  await receiver.stop();
  await addUsers(150);
  await waitsForReceiver(1);
  await server.stop();
  await receiver.start();
  // The first page of events had arrived before the service stopped.
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(2));
  server = await startServer();
  await addUsers(1);
  await eventually(() => expect(receiver.received).toHaveLength(153));
  expect(receiver.received).toEqual([...new Set(receiver.received)].sort((a, b) => a - b));

  await receiver.stop();
  await addUsers(1);
  await waitsForReceiver(2);
  const { code, stdout } = await command.stop();
  expect(code).toBe(0);
  expect(stdout.split("\n").slice(2, -1)).toEqual(
    receiver.received.map((id) => `organization_user.added ${id} 204`),
  );
});

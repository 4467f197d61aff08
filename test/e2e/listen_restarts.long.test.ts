import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { platformCaller } from "./support/callers.ts";
import { eventually } from "./support/eventually.ts";
import { startListening } from "./support/listening.ts";
import { anOrganization } from "./support/organization.ts";
import { startReceiver } from "./support/receiver.ts";
import { startServer } from "./support/server.ts";

/** An address that stays the same, although the server gets another port when it restarts. */
async function aFixedAddress(target: () => string) {
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(target()).port), "localhost");
    socket.pipe(upstream).pipe(socket);
    for (const each of [socket, upstream])
      each.on("error", () => [socket, upstream].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

it("listen loses, repeats and reorders no event while the service and the receiver restart", async () => {
  let server = await startServer();
  const { credentials, organization, base } = await anOrganization(server.url);
  const received: number[] = [];
  const startAt = (port?: number) =>
    startReceiver((response, { body }) => {
      received.push(body.id);
      response.writeHead(204).end();
    }, port);
  let receiver = await startAt();
  const command = startListening(
    credentials,
    ...["--url", await aFixedAddress(() => server.url), "--forward-to", receiver.url],
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
  await eventually(() => expect(received).toHaveLength(2));
  await receiver.stop();
  await addUsers(150);
  await waitsForReceiver(1);
  await server.stop();
  receiver = await startAt(receiver.port);
  // The first page of events had arrived before the service stopped.
  await eventually(() => expect(received.length).toBeGreaterThan(2));
  server = await startServer();
  await addUsers(1);
  await eventually(() => expect(received).toHaveLength(153));
  expect(received).toEqual([...new Set(received)].sort((a, b) => a - b));

  await receiver.stop();
  await addUsers(1);
  await waitsForReceiver(2);
  const { code, stdout } = await command.stop();
  expect(code).toBe(0);
  expect(stdout.split("\n").slice(2, -1)).toEqual(received.map((id) => `organization_user.added ${id} 204`));
});

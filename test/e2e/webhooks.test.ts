import { beforeAll, describe, expect, it, vi } from "vitest";
import { startReceiver } from "./support/receiver.ts";
import { caller, platformCaller, type Server, startServer } from "./support/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
}, 300_000);

let made = 0;

/** An organization with a webhook endpoint for the URL. */
async function aClinic(url: string, more: object = {}) {
  const platform = platformCaller(server.url);
  const name = `Clinic ${++made}`;
  const { body: organization } = await platform("POST", "/organizations", { organization: { name } });
  const users = `/organizations/${organization.id}/users`;
  const email = `ada@${organization.slug}.example`;
  const admin = await platform("POST", users, {
    user: { email, display_name: "Ada", roles: ["organization_admin"] },
  });
  const client = await platform("POST", `/organizations/${organization.id}/api_clients`, {
    api_client: { name: "Integration", organization_user_id: admin.body.id },
  });
  const external = caller(`${server.url}/api/external`, {
    "X-Client-ID": client.body.client_id,
    "X-Client-Secret": client.body.client_secret,
  });
  const endpoint = await external("POST", "/webhook_endpoints", { webhook_endpoint: { url, ...more } });
  expect(endpoint.status).toBe(201);
  return {
    external,
    endpoint: endpoint.body,
    path: `/webhook_endpoints/${endpoint.body.id}`,
    /** Makes an event. */
    addUser: (who: string) =>
      platform("POST", users, {
        user: { email: `${who}@${organization.slug}.example`, display_name: who, roles: ["provider"] },
      }),
  };
}

const within = (seconds: number, check: () => void) =>
  vi.waitFor(check, { timeout: seconds * 1000, interval: 50 });

describe("A webhook", () => {
  it("comes within a second or two of what happened, also while other receivers hang", async () => {
    const hanging = await startReceiver(() => {});
    const slow = await Promise.all(Array.from({ length: 8 }, () => aClinic(hanging.url)));
    for (const clinic of slow) await clinic.addUser("hans");
    await within(5, () => expect(hanging.received.length).toBe(8));
    const receiver = await startReceiver();
    const clinic = await aClinic(receiver.url);
    for (const n of [1, 2, 3]) {
      const started = Date.now();
      await clinic.addUser(`paula-${n}`);
      await within(5, () => expect(receiver.received.length).toBe(n));
      console.log("delay", (receiver.received.at(-1)?.at ?? 0) - started);
      expect((receiver.received.at(-1)?.at ?? 0) - started).toBeLessThan(3000);
    }
    expect(hanging.received.length).toBe(8);
  });

  it("that fails comes again after 5 seconds", async () => {
    const receiver = await startReceiver((response, _, count) =>
      response.writeHead(count === 1 ? 500 : 204).end(),
    );
    const clinic = await aClinic(receiver.url);
    await clinic.addUser("paula");
    await within(15, () => expect(receiver.received.length).toBe(2));
    const [first, second] = receiver.received;
    console.log("retry", (second?.at ?? 0) - (first?.at ?? 0));
    expect(second?.text).toBe(first?.text);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
    console.log(
      JSON.stringify(body),
      await clinic.external("POST", `${clinic.path}/ping`),
      await clinic.external("POST", `${clinic.path}/redeliver`, { after: 0 }),
    );
    await within(5, () => expect(receiver.received.length).toBe(4));
    console.log(server.output().slice(-3000), JSON.stringify(receiver.received, null, 1));
  });
});

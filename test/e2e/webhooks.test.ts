import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { guideText } from "./support/guide.ts";
import { startReceiver } from "./support/receiver.ts";
import { caller, platformCaller, type Server, startServer } from "./support/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

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

const within = (seconds: number, check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: seconds * 1000, interval: 50 });

describe("A webhook", () => {
  it("comes within seconds, also while the receivers of other organizations hang", async () => {
    const hanging = await startReceiver(() => {});
    const others = await Promise.all(Array.from({ length: 8 }, () => aClinic(hanging.url)));
    for (const other of others) await other.addUser("hans");
    await within(5, () => expect(hanging.received).toHaveLength(8));
    const receiver = await startReceiver();
    const clinic = await aClinic(receiver.url);
    for (const n of [1, 2, 3]) {
      const started = Date.now();
      await clinic.addUser(`paula-${n}`);
      await within(10, () => expect(receiver.received).toHaveLength(n));
      expect((receiver.received.at(-1)?.at ?? 0) - started).toBeLessThan(3000);
    }
    expect(hanging.received).toHaveLength(8);
    await within(30, async () => {
      for (const { external, path } of others) {
        const { body } = await external("GET", `${path}/deliveries`);
        expect(body.deliveries[0].error).toBe("There was no response within 15 seconds");
      }
    });
  });

  it("that fails comes again after 5 seconds, the same to the byte", async () => {
    const receiver = await startReceiver((response, _, count) => {
      response.writeHead(count === 1 ? 500 : 204).end();
    });
    const clinic = await aClinic(receiver.url);
    await clinic.addUser("paula");
    await within(15, () => expect(receiver.received).toHaveLength(2));
    const [first, second] = receiver.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(5000);
    expect(second?.text).toBe(first?.text);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  });

  it("does not follow a redirect, and does not wait for the end of a long response", async () => {
    const elsewhere = await startReceiver();
    const receiver = await startReceiver((response, _, count) => {
      if (count === 1) response.writeHead(302, { Location: elsewhere.url }).end();
      else response.writeHead(200).write("x".repeat(100_000));
    });
    const clinic = await aClinic(receiver.url);
    for (const name of ["paula", "peter"]) await clinic.addUser(name);
    await within(15, () => expect(receiver.received.length).toBeGreaterThanOrEqual(3));
    await within(15, async () => {
      const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
      expect(body.deliveries.map((each: { error: string | null }) => each.error)).toEqual([null, null]);
    });
    expect(elsewhere.received).toEqual([]);
  });
});

describe("A receiver", () => {
  it("that never ends its responses, or trickles them, is sent each event once", async () => {
    const open: NodeJS.Timeout[] = [];
    onTestFinished(() => {
      for (const timer of open) clearInterval(timer);
    });
    const beginning = (response: ServerResponse) => response.writeHead(200).write("x");
    const endless = await startReceiver(beginning);
    const trickling = await startReceiver((response) => {
      beginning(response);
      open.push(setInterval(() => response.write("x"), 500));
    });
    const clinics = await Promise.all([endless, trickling].map(({ url }) => aClinic(url)));
    for (const { addUser } of clinics) await addUser("paula");
    for (const { external, path } of clinics)
      await within(30, async () => {
        const { body } = await external("GET", `${path}/deliveries`);
        expect(body.deliveries).toMatchObject([{ attempts: 1, response_status: 200, error: null }]);
      });
    for (const { received } of [endless, trickling]) expect(received).toHaveLength(1);
  });

  it.each([
    ["huge headers", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(10_000_000)}\r\n\r\n`],
    ["what is no HTTP", "hello\r\n\r\n"],
    ["an unknown status", "HTTP/1.1 999 \r\nRetry-After: -1\r\n\r\n"],
  ])("that answers with %s is left and tried again", async (_, answer) => {
    const receiver = await startReceiver((response, _, count) => {
      if (count === 1) response.socket?.end(answer);
      else response.writeHead(204).end();
    });
    const clinic = await aClinic(receiver.url);
    await clinic.addUser("paula");
    await within(20, async () => {
      const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
      expect(body.deliveries).toMatchObject([{ attempts: 2, error: null }]);
    });
  });
});

describe("The receiver in the guide", () => {
  it("verifies what it gets, and prints each event once", async () => {
    const [, code] = /```js\n(import [\s\S]*?standardwebhooks[\s\S]*?)```/.exec(guideText("external")) ?? [];
    mkdirSync("dist/test", { recursive: true });
    writeFileSync("dist/test/receiver.mjs", code ?? "");
    const port = await aFreePort();
    const clinic = await aClinic(`http://localhost:${port}/`);
    const child = spawn(process.execPath, ["dist/test/receiver.mjs"], {
      env: { ...process.env, WEBHOOK_SECRET: clinic.endpoint.secret, PORT: String(port) },
    });
    onTestFinished(() => void child.kill());
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output += chunk;
      });
    await within(20, async () => {
      const { body } = await clinic.external("POST", `${clinic.path}/ping`);
      expect(body).toEqual({ response_status: 204, error: null });
    });
    const { body: user } = await clinic.addUser("paula");
    await within(10, () => expect(output).toContain("organization_user.added"));
    await clinic.external("POST", `${clinic.path}/redeliver`, { after: 0 });
    await within(10, async () => {
      const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
      expect(body.deliveries[0]).toMatchObject({ attempts: 1, next_attempt_at: null, response_status: 204 });
    });
    expect(output.match(/organization_user\.added/g)).toHaveLength(1);
    expect(output).toContain(String(user.id));
    const forged = await fetch(`http://localhost:${port}/`, { method: "POST", body: "{}" });
    expect(forged.status).toBe(400);
  });
});

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

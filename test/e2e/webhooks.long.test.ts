import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { compile } from "../project/support/compile.ts";
import { printsOf } from "../support/prints.ts";
import { eventually } from "./support/eventually.ts";
import { guideText, hasPython, makeProgramFolder } from "./support/guide.ts";
import { freePort } from "./support/inspector.ts";
import { anOrganization } from "./support/organization.ts";
import { startReceiver } from "./support/receiver.ts";

const server = inject("sharedServer");

async function aClinic(url: string) {
  const { external, addUser } = await anOrganization(server.url);
  const endpoint = await external("POST", "/webhook_endpoints", { webhook_endpoint: { url } });
  expect(endpoint.status).toBe(201);
  return {
    external,
    endpoint: endpoint.body,
    path: `/webhook_endpoints/${endpoint.body.id}`,
    /** Causes an event. */
    addUser: (who: string) => addUser(who, "provider_assistant"),
  };
}

// Concurrent, because these tests mostly wait.
describe.concurrent("A receiver", () => {
  it("gets its webhooks while the receivers of other organizations hang", async () => {
    let givenUp = 0;
    const hanging = await startReceiver((response) => response.on("close", () => givenUp++));
    const others = await Promise.all(Array.from({ length: 8 }, () => aClinic(hanging.url)));
    const receiver = await startReceiver();
    const clinic = await aClinic(receiver.url);
    await Promise.all(others.map((other) => other.addUser("hans")));
    await eventually(() => expect(hanging.received).toHaveLength(8));
    for (const n of [1, 2, 3]) {
      await clinic.addUser(`paula-${n}`);
      await eventually(() => expect(receiver.received).toHaveLength(n));
      expect(givenUp).toBe(0);
    }
    expect(hanging.received).toHaveLength(8);
    await eventually(async () => {
      for (const { external, path } of others) {
        const { body } = await external("GET", `${path}/deliveries`);
        expect(body.deliveries[0].error).toBe("There was no response within 15 seconds");
      }
    });
  });

  it("that never ends its responses, or trickles them, gets each event once", async ({ onTestFinished }) => {
    const open: NodeJS.Timeout[] = [];
    onTestFinished(() => {
      for (const timer of open) clearInterval(timer);
    });
    const beginning = (response: ServerResponse) => response.writeHead(200).write("x".repeat(100_000));
    const endless = await startReceiver(beginning);
    const trickling = await startReceiver((response) => {
      beginning(response);
      open.push(setInterval(() => response.write("x"), 500));
    });
    const clinics = await Promise.all([endless, trickling].map(({ url }) => aClinic(url)));
    for (const { addUser } of clinics) await addUser("paula");
    for (const { external, path } of clinics)
      await eventually(async () => {
        const { body } = await external("GET", `${path}/deliveries`);
        expect(body.deliveries).toMatchObject([{ attempts: 1, response_status: 200, error: null }]);
      });
    for (const { received } of [endless, trickling]) expect(received).toHaveLength(1);
  });

  it.each([
    ["huge headers", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(10_000_000)}\r\n\r\n`],
    ["text that is not HTTP", "hello\r\n\r\n"],
    ["an unknown status", "HTTP/1.1 999 \r\nRetry-After: -1\r\n\r\n"],
    // The webhook would succeed at the first attempt if the service followed it.
    ["a redirect", "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"],
  ])("that answers with %s gets the webhook again", async (_, answer) => {
    const receiver = await startReceiver((response, _, count) => {
      if (count === 1) response.socket?.end(answer);
      else response.writeHead(204).end();
    });
    const clinic = await aClinic(receiver.url);
    await clinic.addUser("paula");
    await eventually(async () => {
      const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
      expect(body.deliveries).toMatchObject([{ attempts: 2, error: null }]);
    });
  });
});

const RECEIVERS = [
  ["JavaScript", /```js\n(import \{ createServer \}[\s\S]*?)```/, "receiver.mjs", process.execPath],
  ["Python", /```python\n(import base64[\s\S]*?)```/, "receiver.py", "python3"],
] as const;

describe.concurrent.each(RECEIVERS)("The receiver in the guide, in %s,", (language, block, file, command) => {
  const [, code = ""] = block.exec(guideText("external")) ?? [];
  const isMissing = language === "Python" && !hasPython;

  it.skipIf(isMissing)("verifies its webhooks, and prints each event once", async ({ onTestFinished }) => {
    const program = join(makeProgramFolder(), file);
    writeFileSync(program, code);
    const port = await freePort();
    const clinic = await aClinic(`http://localhost:${port}/`);
    const child = spawn(command, [program], {
      env: { ...process.env, WEBHOOK_SECRET: clinic.endpoint.secret, PORT: String(port) },
    });
    onTestFinished(() => {
      child.kill();
      rmSync(dirname(program), { recursive: true });
    });
    const { seen } = printsOf(child);
    await eventually(async () => {
      const { body } = await clinic.external("POST", `${clinic.path}/ping`);
      expect(body).toEqual({ response_status: 204, error: null });
    });
    const user = await clinic.addUser("paula");
    await eventually(() => expect(seen.output).toContain("organization_user.added"));
    await clinic.external("POST", `${clinic.path}/redeliver`, { after: 0 });
    await eventually(async () => {
      const { body } = await clinic.external("GET", `${clinic.path}/deliveries`);
      expect(body.deliveries[0]).toMatchObject({ attempts: 1, next_attempt_at: null, response_status: 204 });
    });
    expect(seen.output.match(/organization_user\.added/g)).toHaveLength(1);
    expect(seen.output).toContain(String(user.id));
    const forged = await fetch(`http://localhost:${port}/`, { method: "POST", body: "{}" });
    expect(forged.status).toBe(400);
  });
});

it("The receiver in the guide compiles in TypeScript", () => {
  const [, code = ""] = RECEIVERS[0][1].exec(guideText("external")) ?? [];
  // The guide's readers add the types of their own functions.
  const source = code.replaceAll("organization-video-visit-client", "./dist/client/external/index.js");
  expect(compile(source, { noImplicitAny: false, types: ["node"] }).problems).toEqual([]);
});

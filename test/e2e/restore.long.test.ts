import { randomUUID } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { EgressInfo, EgressStatus } from "@livekit/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SEQUENCE_LEAP } from "../../src/dev/quiet_statements.ts";
import { databaseIn } from "./support/entries.ts";
import { eventually } from "./support/eventually.ts";
import { startLiveKit, uploadFile } from "./support/livekit.ts";
import { anOrganization } from "./support/organization.ts";
import { startReceiver } from "./support/receiver.ts";
import { caller, npmRun, platformCaller, startServer } from "./support/server.ts";

const settings = parseEnv(readFileSync(".dev.vars.example", "utf8"));

let livekit: Awaited<ReturnType<typeof startLiveKit>>;

beforeAll(async () => {
  livekit = await startLiveKit(settings.LIVEKIT_API_KEY ?? "", settings.LIVEKIT_API_SECRET ?? "");
});
afterAll(() => livekit.stop());

/** A server with its data in a folder of its own. */
async function aServer(ownData: string) {
  const server = await startServer({ ownData, flags: ["--var", `LIVEKIT_URL:${livekit.url}`] });
  const folder = join(server.persistTo, ownData);
  return {
    ...server,
    folder,
    health: async () => (await fetch(`${server.url}/health`)).json(),
    /** Ends when all chores are done. */
    runCron: () => fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`),
    /** While the server runs, as an operator does it. */
    async restore(...args: string[]) {
      const { code, output } = await npmRun("restore", "--", "--persist-to", folder, ...args);
      expect(code, output).toBe(0);
      return output;
    },
  };
}

/** An organization with an endpoint that fails, a recording that is too old, and one of which LiveKit says no more. */
async function aClinicWithWork({ url, folder }: { url: string; folder: string }, endpointUrl: string) {
  const { platform, external, credentials, addUser, organization, base } = await anOrganization(url);
  const { body: endpoint } = await external("POST", "/webhook_endpoints", {
    webhook_endpoint: { url: endpointUrl },
  });
  const provider = await addUser("paula", "provider");
  const key = randomUUID();
  const storage_key = `${organization.slug}/${key}`;
  await uploadFile(url, settings, storage_key, new Uint8Array(100));
  const reports: [string, object][] = [
    [
      `${base}/calls/${key}`,
      {
        call: {
          waiting_room_slug: provider.waiting_room_slug,
          organization_user_id: provider.id,
          started_at: "2026-01-31T09:30:00Z",
          ended_at: "2026-01-31T10:00:00Z",
          participants: [{ key, display_name: "Rita", role: "recipient", recording_consent: true }],
        },
      },
    ],
    [`${base}/egresses/${key}-old`, { egress: { call_key: key, status: "egress_ended", storage_key } }],
    [`${base}/egresses/${key}-silent`, { egress: { call_key: key, status: "egress_active" } }],
    [base, { organization: { recording_retention_days: 1 } }],
  ];
  for (const [path, body] of reports) expect((await platform("PUT", path, body)).status).toBe(200);
  const database = databaseIn(folder);
  database.exec("update egresses set check_at = 1 where check_at is not null");
  database.close();
  livekit.knows(new EgressInfo({ egressId: `${key}-silent`, status: EgressStatus.EGRESS_ACTIVE }));

  /** The same organization on a server. */
  const on = (server: { url: string }) => {
    const client = caller(`${server.url}/api/external`, credentials);
    return {
      client,
      endpoint: async () => (await client("GET", `/webhook_endpoints/${endpoint.id}`)).body,
      send: (verb: string, body?: object) =>
        client("POST", `/webhook_endpoints/${endpoint.id}/${verb}`, body),
      async makeEvent() {
        const user = { email: `${randomUUID()}@example.com`, display_name: "Max", roles: ["provider"] };
        const { body } = await platformCaller(server.url)("POST", `${base}/users`, { user });
        const { body: list } = await client("GET", "/events?per_page=100");
        return { user: body.id as number, event: list.events.at(-1).id as number };
      },
      async fileIsThere() {
        const calls = await client("GET", `/organization_users/${provider.id}/calls`);
        const path = `/organization_users/${provider.id}/calls/${calls.body.calls[0].id}/egresses`;
        const { body } = await client("GET", path);
        return body.egresses.some(({ status }: { status: string }) => status === "egress_ended");
      },
    };
  };
  return { key, on };
}

it("A rehearsal sends nothing, deletes nothing, asks LiveKit nothing and gives no id again, until it is resumed", async () => {
  const source = await aServer("source");
  let isDown = true;
  const receiver = await startReceiver((response) => response.writeHead(isDown ? 500 : 204).end());
  const { key, on } = await aClinicWithWork(source, receiver.url);
  await on(source).makeEvent();
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(0));
  const file = join(source.persistTo, "backup.sql");
  const backedUp = await npmRun("backup", "--", "--persist-to", source.folder, "--output", file);
  expect(backedUp.code, backedUp.output).toBe(0);
  // What happens after the backup is not in the copy.
  const lost = await on(source).makeEvent();
  await source.stop();

  const into = ["--persist-to", join(source.persistTo, "copy")];
  const output = await npmRun("restore", "--", ...into, "--input", file);
  expect(output).toMatchObject({ code: 0, output: expect.stringContaining("off until then: 1.") });
  cpSync(join(source.folder, "v3/r2"), join(source.persistTo, "copy/v3/r2"), { recursive: true });
  const copy = await aServer("copy");
  const clinic = on(copy);
  isDown = false;
  receiver.received.length = 0;
  expect(await copy.health()).toMatchObject({ status: "quiet" });
  expect(await clinic.endpoint()).toMatchObject({ is_active: false, disabled_reason: "restored" });
  const made = await clinic.makeEvent();
  expect(made.user).toBeGreaterThan(lost.user);
  expect(made.event).toBeGreaterThan(lost.event);
  await copy.runCron();
  expect((await clinic.send("ping")).status).toBe(422);
  expect((await clinic.send("redeliver", { after: 0 })).status).toBe(422);
  expect(await clinic.fileIsThere()).toBe(true);
  expect(livekit.asked).toEqual([]);

  expect(await copy.restore("--resume")).toContain(
    "Resumed. Webhook endpoints that are on again, as in the copy: 1.",
  );
  expect(await clinic.endpoint()).toMatchObject({ is_active: true, disabled_reason: null });
  const { event } = await clinic.makeEvent();
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(0));
  expect(receiver.received[0]?.headers["webhook-id"]).toBe(`evt_${event}`);
  await copy.runCron();
  expect(await clinic.fileIsThere()).toBe(false);
  expect(livekit.asked).toEqual([`${key}-silent`]);
  await eventually(async () => expect(await copy.health()).toMatchObject({ status: "ok" }));
  expect(await copy.restore("--resume")).toContain("there is nothing to resume");
  // Last: nothing from before was on its way. The deletion of the file is an event too.
  for (const { body } of receiver.received) expect(body.id).toBeGreaterThanOrEqual(event);
});

it("A database that Time Travel put back is quiet after a command, which may be run again", async () => {
  const server = await aServer("put-back");
  const receiver = await startReceiver();
  const { on } = await aClinicWithWork(server, receiver.url);
  const clinic = on(server);
  const before = await clinic.makeEvent();
  const said = [await server.restore("--after-time-travel"), await server.restore("--after-time-travel")];
  for (const each of said) expect(each).toContain("The database is quiet");
  for (const each of said) expect(each).toContain("off until then: 1.");
  expect(await clinic.endpoint()).toMatchObject({ is_active: false, disabled_reason: "restored" });
  const after = await clinic.makeEvent();
  expect(after.user).toBeGreaterThan(before.user + SEQUENCE_LEAP);
  expect(after.event).toBeGreaterThan(before.event + SEQUENCE_LEAP);
  await server.restore("--resume");
  expect(await clinic.endpoint()).toMatchObject({ is_active: true, disabled_reason: null });
});

it("The command says what it wants", async () => {
  for (const args of [[], ["--resume", "--after-time-travel"], ["--input", "x.sql", "--resume"]]) {
    const { code, output } = await npmRun("restore", "--", ...args);
    expect(output).toContain("Say one thing");
    expect(code).toBe(1);
  }
});

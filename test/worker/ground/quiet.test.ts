import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  QUIETING_STATEMENTS,
  RESUMING_STATEMENTS,
  SEQUENCE_LEAP,
} from "../../../src/dev/quiet_statements.ts";
import { WEBHOOK_RESULTS_PORTION } from "../../../src/tuning.ts";
import { MINUTE } from "../../../src/units.ts";
import wranglerConfig from "../../../wrangler.toml?raw";
import { api, platform } from "../support/api.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { KEY } from "../support/livekit_api.ts";
import { MAIL_FROM } from "../support/mails.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { aMessage, aQueue, ofBulkInvite, workerWith } from "../support/queue.ts";
import { AUDIT_SIGNING_KEY } from "../support/seals.ts";
import { fileExists, storeFile } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aClinicWithReceiver, aClinicWithWebhooks, aReceiver, status } from "../support/webhooks.ts";

const QUIET = "The service was restored from a backup and sends no webhooks until its operator resumes it";
const KEPT = "The database was restored: the file is deleted when the operator resumes the service";

const run = (statements: string[]) => env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));

const resume = () => run(RESUMING_STATEMENTS);

/** Does to the database what a restore does, until the test ends. The tests of the commands prove that it does. */
async function restore() {
  onTestFinished(async () => {
    await resume();
  });
  await run(QUIETING_STATEMENTS);
}

describe("A restored database sends no webhook", () => {
  it("for deliveries that were due, and sends only new events after it is resumed", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    await clinic.makeEvents(2);
    await restore();
    expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: false, disabled_reason: "restored" });
    expect(await clinic.deliveries(endpoint)).toEqual([]);
    await clinic.makeEvents();
    await clinic.queue.pass(10 * MINUTE);
    await clinic.queue.runCron();
    expect(receiver.received).toEqual([]);
    await resume();
    expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: true, disabled_reason: null });
    const [event] = await clinic.makeEvents();
    await clinic.queue.passUntilDone();
    expect(receiver.received.map(({ body }) => body.id)).toEqual([event]);
  });

  it("after the current portion of a lane that began before the restore", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    await clinic.makeEvents(WEBHOOK_RESULTS_PORTION + 3);
    receiver.answer = async (_, count) => {
      if (count === 1) await restore();
      return status(204);
    };
    await clinic.queue.pass(10 * MINUTE);
    expect(receiver.received).toHaveLength(WEBHOOK_RESULTS_PORTION);
    expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: false, disabled_reason: "restored" });
  });

  it.each([
    ["ping", undefined],
    ["ping", { type: "call.ended" }],
    ["redeliver", { after: 0 }],
  ])("for a request to %s, which is refused, even for an active endpoint", async (verb, body) => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    await clinic.makeEvents();
    await restore();
    const ask = () => clinic.client.post(`/webhook_endpoints/${endpoint.id}/${verb}`, body);
    expectRefusal(await changingNothing(ask), 422, QUIET);
    await clinic.updateEndpoint(endpoint, { is_active: true });
    expectRefusal(await changingNothing(ask), 422, QUIET);
    expectRefusal(await clinic.client.post(`/webhook_endpoints/999999999/${verb}`, body), 404);
    await resume();
    expect((await ask()).status).toBe(200);
    await clinic.queue.passUntilDone();
    expect(receiver.received).toHaveLength(1);
  });
});

describe("The webhook endpoints of a restored database", () => {
  it("are active again when it is resumed, unless they were inactive before or a client deactivated them", async () => {
    const clinic = await aClinicWithWebhooks();
    const gone = aReceiver(() => status(410));
    const was = {
      on: await clinic.addEndpoint(aReceiver()),
      off: await clinic.addEndpoint(aReceiver(), { is_active: false }),
      gone: await clinic.addEndpoint(gone),
      turnedOff: await clinic.addEndpoint(aReceiver()),
      moved: await clinic.addEndpoint(aReceiver()),
    };
    await clinic.makeEvents();
    await clinic.queue.passUntilDone();
    const off = { is_active: false, disabled_reason: null };
    const restored = { is_active: false, disabled_reason: "restored" };
    const disabled = { is_active: false, disabled_reason: "gone" };
    // The endpoints are remembered, however often the database is made quiet.
    await restore();
    await restore();
    expect(await clinic.endpoint(was.on)).toMatchObject(restored);
    expect(await clinic.endpoint(was.off)).toMatchObject(off);
    expect(await clinic.endpoint(was.gone)).toMatchObject(disabled);
    expect(await clinic.updateEndpoint(was.turnedOff, { is_active: false })).toMatchObject(off);
    const { url } = aReceiver();
    expect(await clinic.updateEndpoint(was.moved, { url })).toMatchObject({ ...restored, url });
    await resume();
    await resume();
    expect(await clinic.endpoint(was.on)).toMatchObject({ is_active: true, disabled_reason: null });
    expect(await clinic.endpoint(was.off)).toMatchObject(off);
    expect(await clinic.endpoint(was.gone)).toMatchObject(disabled);
    expect(await clinic.endpoint(was.turnedOff)).toMatchObject(off);
    expect(await clinic.endpoint(was.moved)).toMatchObject({ is_active: true, url });
  });

  it("stay inactive if their creator leaves before it is resumed", async () => {
    const clinic = await aClinicWithWebhooks();
    const colleague = await clinic.addUser("Alan Admin", ["organization_admin"]);
    const client = await clinic.addClient(colleague.id);
    const webhook_endpoint = { url: aReceiver().url };
    const endpoint = await given(client.post("/webhook_endpoints", { webhook_endpoint }));
    await restore();
    await given(platform.delete(`/organizations/${clinic.id}/users/${colleague.id}`));
    await resume();
    const off = { is_active: false, disabled_reason: "creator_removed" };
    expect(await clinic.endpoint(endpoint)).toMatchObject(off);
  });

  it("are not disabled by their first new failure because of earlier failures", async () => {
    const { clinic, endpoint } = await aClinicWithReceiver(() => status(500));
    await clinic.makeEvents();
    await clinic.queue.pass(MINUTE);
    await restore();
    await clinic.queue.pass(6 * 24 * 60 * MINUTE);
    await resume();
    await clinic.makeEvents();
    await clinic.queue.pass(MINUTE);
    expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: true, disabled_reason: null });
  });
});

const messageTo: Record<string, () => object> = {
  "bulk-invites": () => ofBulkInvite({ id: 1 }),
  "webhook-deliveries": () => ({ schema: "webhook_deliveries/1", webhook_endpoint_id: null }),
  "invite-mails": () => ({ schema: "invite_mails/1" }),
  chores: () => ({ schema: "chores/1", scheduled_time: Date.now() }),
};

/** Read from wrangler.toml, so that a new queue is tested too. */
const QUEUES = [...wranglerConfig.matchAll(/^\[\[queues\.consumers\]\]\nqueue = "(.+)"$/gm)].map(
  ([, name]) => name as string,
);

it("The next test covers every queue of wrangler.toml", () => {
  expect(QUEUES).toHaveLength(4);
});

it.each(["cron", ...QUEUES])(
  "The %s of a restored database asks whether it is quiet, and does nothing else until it is resumed",
  async (source) => {
    const texts: string[] = [];
    const DB = observedDatabase({ prepare: (text) => void texts.push(text) });
    const bindings = { ...KEY, BULK_INVITES: aQueue().binding, MAIL_FROM, AUDIT_SIGNING_KEY, DB };
    const worker = workerWith(bindings);
    const statements = async () => {
      texts.length = 0;
      const message = aMessage(messageTo[source]?.());
      if (source === "cron") await worker.runCron();
      else expect(await worker.consume([message], source)).toMatchObject({ acked: [message.id] });
      return [...texts];
    };
    const question = expect.stringContaining('from "database_settings"');
    await restore();
    expect(await statements()).toEqual([question]);
    await resume();
    const [first, ...others] = await statements();
    expect(first).toEqual(question);
    expect(others.length).toBeGreaterThan(0);
  },
);

it("A restored database deletes no file for the platform or an erasure until it is resumed", async () => {
  const clinic = await anOrganization();
  const reference = unique("patient");
  const call = await aCall(clinic, { participants: [aRecipient({ external_reference: reference })] });
  const files = await Promise.all(
    ["deleted", "erased"].map(async (word) => {
      const storage_key = `${clinic.slug}/${unique(word)}.wav`;
      await storeFile(storage_key);
      return { storage_key, ...(await call.addEgress({ storage_key })) };
    }),
  );
  const exist = () => Promise.all(files.map(({ storage_key }) => fileExists(storage_key)));
  await restore();
  const remove = () => clinic.platform.delete(`/egresses/${files[0]?.egress_id}`);
  const refused = await remove();
  expectRefusal(refused, 503, KEPT);
  expect(refused.headers.get("Retry-After")).toMatch(/^\d+$/);
  await given(clinic.client.delete(`/participants?external_reference=${reference}&texts=true`));
  travelTo(fromNow(10));
  await workerWith({}).runCron();
  expect(await exist()).toEqual([true, true]);
  await resume();
  await workerWith({}).runCron();
  expect(await exist()).toEqual([false, false]);
  expect((await remove()).status).toBe(204);
});

it("A restored database never assigns an id that was assigned after the backup", async () => {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const lines = (text: string) => [
    { participant_key: call.participants[0].key, text, start_time: 0, end_time: 1 },
  ];
  const made = async () => {
    const transcript = await given(
      call.reportTranscript({ summary: null, is_final: false, lines: lines(unique("line")) }),
    );
    const { events } = await given(clinic.client.get("/events?per_page=100"));
    return {
      room: (await clinic.addRoom()).id as number,
      user: (await clinic.addProvider()).id as number,
      event: events.at(-1).id as number,
      line: transcript.transcript_lines[0].id as number,
    };
  };
  const before = await made();
  await restore();
  const after = await made();
  // The newest event is from before the restore.
  expect(after.event).toBeLessThan(before.event + SEQUENCE_LEAP);
  const later = await made();
  for (const name of ["room", "user", "line"] as const)
    expect(after[name], name).toBeGreaterThan(before[name] + SEQUENCE_LEAP);
  expect(later.event).toBeGreaterThan(before.event + SEQUENCE_LEAP);
});

it("A restored database drops a queued mail with an event that has a new id, and sends no webhook for that event", async () => {
  const { clinic, receiver, endpoint } = await aClinicWithReceiver();
  const newest = async () => (await given(clinic.client.get("/events?per_page=100"))).events.at(-1);
  const invite = await clinic.addInvite();
  await clinic.queue.passUntilDone();
  const sent = receiver.received.length;
  await env.DB.prepare("update invites set mail_status = 'queued', next_mail_at = 1 where id = ?")
    .bind(invite.id)
    .run();
  const before = await newest();
  await restore();
  const dropped = await newest();
  expect(dropped).toMatchObject({ type: "invite.mail_failed", data: { invite_id: invite.id } });
  expect(dropped.id).toBeGreaterThan(before.id + SEQUENCE_LEAP);
  expect(
    await env.DB.prepare("select * from webhook_deliveries where event_id = ?").bind(dropped.id).first(),
  ).toBe(null);
  await resume();
  expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: true });
  const [event] = await clinic.makeEvents();
  await clinic.queue.passUntilDone();
  expect(receiver.received.slice(sent).map(({ body }) => body.id)).toEqual([event]);
});

it("GET /health of a restored service returns 200, and says that the database is quiet", async () => {
  // A new object each time, since an isolate remembers how a database was.
  const health = () =>
    api("", {})
      .through(workerWith({ DB: observedDatabase({}) }).fetcher)
      .get("/health");
  await restore();
  const message = expect.stringContaining("npm run restore -- --resume");
  expect(await health()).toMatchObject({ status: 200, body: { status: "quiet", message } });
  await resume();
  expect(await health()).toMatchObject({ status: 200, body: { status: "ok" } });
});

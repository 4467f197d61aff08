import { env } from "cloudflare:workers";
import { isDeepStrictEqual } from "node:util";
import { beforeEach, expect, it, vi } from "vitest";
import { SECOND } from "../../../src/units.ts";
import { endpoints } from "../support/network.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { insertMany } from "../support/rows.ts";
import {
  aClinicWithReceiver,
  aClinicWithWebhooks,
  aReceiver,
  aWebhookQueue,
  status,
} from "../support/webhooks.ts";

beforeEach(async () => {
  await env.DB.batch(
    ["webhook_deliveries", "webhook_endpoints", "events"].map((table) =>
      env.DB.prepare(`delete from ${table}`),
    ),
  );
});

it("A webhook is sent at once, however many other endpoints are dead and due", async () => {
  const DEAD = 1500;
  const neighbour = await aClinicWithWebhooks();
  const dead = aReceiver(() => status(500));
  await insertMany(
    DEAD,
    `insert into webhook_endpoints
       (organization_id, created_by_user_id, url, is_active, secret, created_at, updated_at, failing_since, due_at)
     select ?, ?, ?, 1, 'whsec_c2VjcmV0', 0, 0, ?, n from counter`,
    ...[neighbour.id, neighbour.admin.user_id, dead.url, Date.now() - SECOND],
  );
  const { clinic, receiver } = await aClinicWithReceiver();
  const [id] = await clinic.makeEvents();
  await clinic.queue.deliver(clinic.queue.messages.shift()?.body);
  expect(receiver.received.map(({ body }) => body.id)).toEqual([id]);
});

it("Webhooks for 250 endpoints at once are all sent within seconds", async () => {
  const clinic = await aClinicWithWebhooks();
  const hooks = aReceiver();
  const urls = Array.from({ length: 250 }, (_, n) => `${hooks.url}/${n}`);
  for (const url of urls) endpoints.set(url, endpoints.get(hooks.url) ?? (() => Promise.reject()));
  await env.DB.prepare(
    `insert into webhook_endpoints (organization_id, created_by_user_id, url, is_active, secret, created_at, updated_at)
     select ?, ?, value, 1, 'whsec_c2VjcmV0', 0, 0 from json_each(?)`,
  )
    .bind(clinic.id, clinic.admin.user_id, JSON.stringify(urls))
    .run();
  await clinic.makeEvents();
  await clinic.queue.pass(3 * SECOND);
  expect(hooks.received).toHaveLength(urls.length);
});

it("An endpoint at which a webhook fails has one message in the queue, however many other webhooks come", async () => {
  let bad: number | undefined;
  const { clinic, receiver, endpoint } = await aClinicWithReceiver(({ body }) =>
    status(body.id === bad ? 500 : 200),
  );
  [bad] = await clinic.makeEvents();
  await clinic.queue.pass(10 * SECOND);
  expect(receiver.received).toHaveLength(2);
  for (let n = 0; n < 40; n++) {
    await clinic.makeEvents();
    await clinic.queue.pass(2 * SECOND);
  }
  expect(receiver.received).toHaveLength(42);
  const nudge = { schema: "webhook_deliveries/1", webhook_endpoint_id: endpoint.id };
  expect(clinic.queue.messages.filter(({ body }) => isDeepStrictEqual(body, nudge))).toHaveLength(1);
  // The message is delivered, and superfluous ones do not create others.
  for (let n = 0; n < 20; n++) clinic.queue.messages.push({ body: nudge, at: Date.now() });
  await clinic.queue.pass(SECOND);
  expect(clinic.queue.messages).toHaveLength(1);
  await clinic.queue.pass(6 * 60 * SECOND);
  expect(receiver.received).toHaveLength(43);
  expect(clinic.queue.messages).toEqual([]);
});

it.each(["deleted", "deactivated", "moved"])(
  "An endpoint that is %s during a delivery soon gets no more webhooks there",
  async (how) => {
    const clinic = await aClinicWithWebhooks();
    const endpoint = { id: 0 };
    const next = aReceiver();
    const change = how === "moved" ? { url: next.url } : { is_active: false };
    const receiver = aReceiver(async (_, count) => {
      if (count === 3 && how === "deleted") await clinic.client.delete(`/webhook_endpoints/${endpoint.id}`);
      else if (count === 3) await clinic.updateEndpoint(endpoint, change);
      return status(200);
    });
    endpoint.id = (await clinic.addEndpoint(receiver)).id;
    await clinic.makeEvents(15);
    await clinic.queue.pass(2 * SECOND);
    // The lane records its results after ten requests, and then ends.
    expect(receiver.received).toHaveLength(10);
    expect(next.received).toHaveLength(how === "moved" ? 5 : 0);
    if (how !== "deleted") return;
    await clinic.queue.runCron();
    const left = await env.DB.prepare("select count(*) as n from webhook_deliveries").first("n");
    expect([left, clinic.queue.messages]).toEqual([0, []]);
  },
);

it("A lane of webhooks that outlives its lease neither overwrites nor ends the next lane", async () => {
  const clinic = await aClinicWithWebhooks();
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const receiver = aReceiver(async (_, count) => {
    if (count === 1) await held;
    return status(count === 1 ? 410 : 200);
  });
  const endpoint = await clinic.addEndpoint(receiver);
  const [id] = await clinic.makeEvents();
  const nudge = { schema: "webhook_deliveries/1", webhook_endpoint_id: endpoint.id };
  const slow = clinic.queue.deliver(nudge);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
  await clinic.queue.deliver(nudge);
  expect(receiver.received).toHaveLength(1);
  vi.setSystemTime(Date.now() + 41 * SECOND);
  await Promise.all([clinic.queue.deliver(nudge), clinic.queue.deliver(nudge)]);
  expect(receiver.received.map(({ body }) => body.id)).toEqual([id, id]);
  letGo();
  await slow;
  expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: true, disabled_reason: null });
  expect(await clinic.deliveries(endpoint)).toMatchObject([
    { attempts: 1, response_status: 200, next_attempt_at: null },
  ]);
});

it("A webhook for an event that comes while its lane ends is not left behind", async () => {
  const { clinic, receiver, endpoint } = await aClinicWithReceiver();
  const ids = await clinic.makeEvents();
  let trips = 0;
  const DB = observedDatabase({
    async query(run) {
      const trip = ++trips;
      const result = await run();
      // Trip 1 asks whether the database is quiet, 2 takes the endpoint, and 3 is the lane's last read before it writes.
      if (trip === 3) ids.push(...(await clinic.makeEvents()));
      return result;
    },
  });
  const queue = aWebhookQueue({ DB });
  await queue.deliver({ schema: "webhook_deliveries/1", webhook_endpoint_id: endpoint.id });
  expect(trips).toBe(6);
  expect(queue.messages).toHaveLength(1);
  await queue.pass(SECOND);
  expect(receiver.received.map(({ body }) => body.id)).toEqual(ids);
});

it("An event costs an organization without endpoints one row with its indexes, and reads no endpoint of others", async () => {
  const [clinic, other] = [await aClinicWithWebhooks(), await aClinicWithWebhooks()];
  const cost = async () => {
    const event =
      "insert into events (organization_id, type, data, created_at) values (?, 'call.started', '{}', 0)";
    const { meta } = await env.DB.prepare(event).bind(clinic.id).run();
    return { rows_read: meta.rows_read, rows_written: meta.rows_written };
  };
  await cost();
  const before = await cost();
  expect(before.rows_written).toBeLessThanOrEqual(6);
  for (let n = 0; n < 5; n++) await other.addEndpoint(aReceiver());
  expect(await cost()).toEqual(before);
});

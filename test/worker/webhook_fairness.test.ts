import { env } from "cloudflare:workers";
import { isDeepStrictEqual } from "node:util";
import { beforeEach, expect, it } from "vitest";
import { endpoints } from "./support/network.ts";
import { aClinicWithWebhooks, aReceiver, status } from "./support/webhooks.ts";

const SECOND = 1000;

beforeEach(async () => {
  await env.DB.batch(
    ["webhook_deliveries", "webhook_endpoints", "events"].map((table) =>
      env.DB.prepare(`delete from ${table}`),
    ),
  );
});

it("A webhook comes at once, however many other endpoints are dead and due", async () => {
  const DEAD = 1500;
  const neighbour = await aClinicWithWebhooks();
  const dead = aReceiver(() => status(500));
  await env.DB.prepare(
    `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ?)
     insert into webhook_endpoints
       (organization_id, url, is_active, secret, created_at, updated_at, failing_since, due_at)
     select ?, ?, 1, 'whsec_c2VjcmV0', 0, 0, ?, n from counter`,
  )
    .bind(DEAD, neighbour.id, dead.url, Date.now() - SECOND)
    .run();
  const clinic = await aClinicWithWebhooks();
  const receiver = aReceiver();
  await clinic.addEndpoint(receiver);
  const [id] = await clinic.makeEvents();
  await clinic.queue.deliver(clinic.queue.messages.shift()?.body);
  expect(receiver.received.map(({ body }) => body.id)).toEqual([id]);
});

it("Webhooks for many organizations at once all come within seconds", async () => {
  const clinic = await aClinicWithWebhooks();
  const hooks = aReceiver();
  const urls = Array.from({ length: 250 }, (_, n) => `${hooks.url}/${n}`);
  for (const url of urls) endpoints.set(url, endpoints.get(hooks.url) ?? (() => Promise.reject()));
  await env.DB.prepare(
    `insert into webhook_endpoints (organization_id, url, is_active, secret, created_at, updated_at)
     select ?, value, 1, 'whsec_c2VjcmV0', 0, 0 from json_each(?)`,
  )
    .bind(clinic.id, JSON.stringify(urls))
    .run();
  await clinic.makeEvents();
  await clinic.queue.pass(3 * SECOND);
  expect(hooks.received).toHaveLength(urls.length);
});

it("An endpoint at which an event fails has one message in the queue, however often others come", async () => {
  const clinic = await aClinicWithWebhooks();
  let bad: number | undefined;
  const receiver = aReceiver(({ body }) => status(body.id === bad ? 500 : 200));
  const endpoint = await clinic.addEndpoint(receiver);
  [bad] = await clinic.makeEvents();
  await clinic.queue.pass(10 * SECOND);
  expect(receiver.received).toHaveLength(2);
  for (let n = 0; n < 40; n++) {
    await clinic.makeEvents();
    await clinic.queue.pass(2 * SECOND);
  }
  expect(receiver.received).toHaveLength(42);
  const nudge = { version: 1, webhook_endpoint_id: endpoint.id };
  expect(clinic.queue.messages.filter(({ body }) => isDeepStrictEqual(body, nudge))).toHaveLength(1);
  // It comes, and what comes too often makes no others.
  for (let n = 0; n < 20; n++) clinic.queue.messages.push({ body: nudge, at: Date.now() });
  await clinic.queue.pass(SECOND);
  expect(clinic.queue.messages).toHaveLength(1);
  await clinic.queue.pass(6 * 60 * SECOND);
  expect(receiver.received).toHaveLength(43);
  expect(clinic.queue.messages).toEqual([]);
});

import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { EVENT_TYPES, type EventType } from "../../../src/database/enums.ts";
import { WEBHOOK_RETRY_DELAYS, WEBHOOK_TIMEOUT } from "../../../src/lifetimes.ts";
import type { Document } from "../../../src/reference/site/openapi.ts";
import { DAY, MINUTE, SECOND } from "../../../src/units.ts";
import { documents } from "../support/contract.ts";
import { expectRefusal } from "../support/expectations.ts";
import { endpoints } from "../support/network.ts";
import { anInvite, given } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { logOf } from "../support/seals.ts";
import { changingNothing } from "../support/unchanged.ts";
import {
  aClinicWithReceiver,
  aClinicWithWebhooks,
  aReceiver,
  aWebhookQueue,
  type ClinicWithWebhooks,
  never,
  type Received,
  status,
} from "../support/webhooks.ts";

/** Removes the deliveries of other tests, which a message would send too. */
beforeEach(async () => {
  await env.DB.batch(
    ["webhook_deliveries", "webhook_endpoints", "events"].map((table) =>
      env.DB.prepare(`delete from ${table}`),
    ),
  );
});

/** The documented examples of an event and of its test. */
const documentedExamples = (type: EventType) => {
  const { webhooks } = documents["/api/external"] as Document;
  const { examples = {} } = webhooks?.[type]?.post.requestBody?.content["application/json"] ?? {};
  return Object.values(examples).map(({ value }) => value);
};

const idsOf = (received: Received[]) => received.map(({ body }) => body.id);

/** Makes the Worker wait only briefly for receivers. The returned spy sees the real timeouts. */
function waitingBriefly() {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  return vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(20));
}

describe("A webhook", () => {
  it("contains the event's id, type, time and data, nothing else, and is signed according to Standard Webhooks", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    const [id] = await clinic.makeEvents();
    await clinic.queue.pass(SECOND);
    const { events } = await given(clinic.client.get(`/events?after=${Number(id) - 1}`));
    const [{ created_at, ...event }] = events;
    expect(receiver.received.map(({ body }) => body)).toEqual([{ ...event, timestamp: created_at }]);
    const { text, headers, body, at } = receiver.received[0] as Received;
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": `evt_${id}`,
      "webhook-timestamp": String(Math.floor(at / SECOND)),
      "user-agent": expect.stringContaining("VideoVisit"),
    });
    const { secret } = endpoint;
    expect(new Webhook(secret).verify(text, headers)).toEqual(body);
    expect(() => new Webhook(secret).verify(`${text} `, headers)).toThrow();
    expect(() => new Webhook(`whsec_${btoa("x".repeat(32))}`).verify(text, headers)).toThrow();
  });

  it("is also signed with the old secret for a day after a rotation", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    const rotated = await given(
      clinic.client.post(`/webhook_endpoints/${endpoint.id}/rotate_secret`, undefined),
    );
    await clinic.makeEvents();
    await clinic.queue.pass(DAY + SECOND);
    await clinic.makeEvents();
    await clinic.queue.pass(SECOND);
    const [during, after] = receiver.received as [Received, Received];
    vi.setSystemTime(during.at);
    for (const { secret } of [endpoint, rotated]) new Webhook(secret).verify(during.text, during.headers);
    vi.setSystemTime(after.at);
    new Webhook(rotated.secret).verify(after.text, after.headers);
    expect(() => new Webhook(endpoint.secret).verify(after.text, after.headers)).toThrow();
  });

  it("goes to active endpoints that want its type and existed before the event", async () => {
    const clinic = await aClinicWithWebhooks();
    const [all, ofCalls, inactive, other] = [aReceiver(), aReceiver(), aReceiver(), aReceiver()];
    const late = aReceiver();
    await clinic.addEndpoint(all);
    await clinic.addEndpoint(ofCalls, { event_types: ["call.started", "call.ended"] });
    await clinic.addEndpoint(inactive, { is_active: false });
    await (await aClinicWithWebhooks()).addEndpoint(other);
    const [id] = await clinic.makeEvents();
    await clinic.addEndpoint(late);
    await clinic.queue.pass(2 * SECOND);
    expect(idsOf(all.received)).toEqual([id]);
    for (const receiver of [ofCalls, inactive, other, late]) expect(receiver.received).toEqual([]);
  });

  it("goes once to an endpoint that names its family, even if its type is named too, or is new", async () => {
    const clinic = await aClinicWithWebhooks();
    const all = ["call.started", "bulk_invite.completed", "call.ended", "invite.accepted", "call.resumed"];
    const wanted = [
      [
        ["call.*", "invite.*"],
        ["call.started", "call.ended", "invite.accepted", "call.resumed"],
      ],
      [
        ["call.ended", "call.*"],
        ["call.started", "call.ended", "call.resumed"],
      ],
      [
        ["call.started", "call.ended"],
        ["call.started", "call.ended"],
      ],
    ] as const;
    const added = [];
    for (const [event_types] of wanted) added.push(await clinic.addEndpoint(aReceiver(), { event_types }));
    await env.DB.prepare(
      `insert into events (organization_id, type, data, created_at)
       select ?, value, '{"call_id":1}', ? from json_each(?)`,
    )
      .bind(clinic.id, Date.now(), JSON.stringify(all))
      .run();
    for (const [n, [, types]] of wanted.entries()) {
      const deliveries: { event_type: string }[] = await clinic.deliveries(added[n]);
      expect(deliveries.map(({ event_type }) => event_type).reverse()).toEqual(types);
    }
  });
});

describe("A failed webhook", () => {
  it("is sent again after each delay, identical to the byte, until it is given up", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver(() => status(500));
    await clinic.makeEvents();
    await clinic.queue.passUntilDone();
    const { received } = receiver;
    expect(received).toHaveLength(WEBHOOK_RETRY_DELAYS.length + 1);
    WEBHOOK_RETRY_DELAYS.forEach((delay, n) => {
      const waited = (received[n + 1]?.at ?? 0) - (received[n]?.at ?? 0);
      expect(waited).toBeGreaterThanOrEqual(delay);
      // Allows for the jitter, and for the time until the next run of the cron.
      expect(waited).toBeLessThanOrEqual(delay * 1.1 + 5 * MINUTE + 2 * SECOND);
    });
    const [first] = received as [Received];
    for (const { text, headers, at } of received) {
      expect(text).toBe(first.text);
      expect(headers["webhook-id"]).toBe(first.headers["webhook-id"]);
      expect(headers["webhook-timestamp"]).toBe(String(Math.floor(at / SECOND)));
    }
    expect(await clinic.deliveries(endpoint)).toEqual([
      {
        event_id: first.body.id,
        event_type: "organization_user.added",
        attempts: 10,
        last_attempt_at: new Date(received.at(-1)?.at ?? 0).toISOString(),
        response_status: 500,
        error: "The response status is not a success (200 to 299)",
        next_attempt_at: null,
      },
    ]);
  });

  it("is given up when its retry is due if the endpoint no longer wants its type", async () => {
    const types = { event_types: ["organization_user.added"] };
    const { clinic, receiver, endpoint } = await aClinicWithReceiver(() => status(500), types);
    await clinic.makeEvents();
    await clinic.queue.pass(SECOND);
    await clinic.updateEndpoint(endpoint, { event_types: ["call.*"] });
    await clinic.queue.pass(MINUTE);
    expect(receiver.received).toHaveLength(1);
    const error = "The endpoint no longer receives events of this type";
    expect(await clinic.deliveries(endpoint)).toMatchObject([{ attempts: 1, error, next_attempt_at: null }]);
  });

  it.each(["moved", "activated again"])(
    "waits as Retry-After asks, but is sent at once when its endpoint is %s",
    async (how) => {
      const later = () => status(503, { "Retry-After": "86400" });
      const { clinic, receiver, endpoint } = await aClinicWithReceiver(later);
      const ids = await clinic.makeEvents(2);
      await clinic.queue.pass(SECOND);
      expect(receiver.received.splice(0)).toHaveLength(1);
      const { last_attempt_at, next_attempt_at } = (await clinic.deliveries(endpoint))[1];
      expect(Date.parse(next_attempt_at) - Date.parse(last_attempt_at)).toBe(DAY);
      const repaired = how === "moved" ? aReceiver() : receiver;
      repaired.answer = () => status(200);
      const changes = how === "moved" ? [{ url: repaired.url }] : [{ is_active: false }, { is_active: true }];
      for (const change of changes) await clinic.updateEndpoint(endpoint, change);
      await clinic.queue.pass(2 * SECOND);
      expect(idsOf(repaired.received)).toEqual(ids);
    },
  );

  it("is retried later if no response comes within 15 seconds, and so are the webhooks behind it", async () => {
    const timeout = waitingBriefly();
    const { clinic, receiver, endpoint } = await aClinicWithReceiver(never);
    const ids = await clinic.makeEvents(20);
    await clinic.queue.pass(2 * SECOND);
    expect(idsOf(receiver.received)).toEqual([ids[0]]);
    expect(timeout).toHaveBeenCalledWith(WEBHOOK_TIMEOUT);
    const deliveries = await clinic.deliveries(endpoint, "?per_page=100");
    const error = "There was no response within 15 seconds";
    expect(deliveries.at(-1)).toMatchObject({ attempts: 1, response_status: null, error });
    expect(deliveries[0]).toMatchObject({ attempts: 0, last_attempt_at: null });
    // The longer the endpoint is dead, the more rarely it is tried: at first after 5 seconds, later once a minute.
    await clinic.queue.pass(10 * MINUTE);
    expect(receiver.received.length).toBeLessThan(16);
    receiver.answer = () => status(200);
    await clinic.queue.passUntilDone();
    expect(new Set(idsOf(receiver.received))).toEqual(new Set(ids));
    const errors = (await clinic.deliveries(endpoint, "?per_page=100")).map((each: Delivery) => each.error);
    expect(errors).toEqual(ids.map(() => null));
    timeout.mockRestore();
  });
});

interface Delivery {
  event_id: number;
  error: string | null;
}

it("A webhook endpoint is disabled at once if it answers 410, and gets the pending webhooks when it is activated again", async () => {
  const { clinic, receiver, endpoint } = await aClinicWithReceiver(() => status(410));
  const ids = await clinic.makeEvents(3);
  await clinic.queue.pass(SECOND);
  expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: false, disabled_reason: "gone" });
  await clinic.makeEvents();
  await clinic.queue.pass(DAY);
  await clinic.queue.runCron();
  await clinic.queue.pass(SECOND);
  expect(receiver.received).toHaveLength(1);
  receiver.answer = () => status(200);
  const activated = await clinic.updateEndpoint(endpoint, { is_active: true });
  expect(activated).toMatchObject({ is_active: true, disabled_reason: null });
  await clinic.queue.pass(2 * SECOND);
  expect(idsOf(receiver.received.slice(1))).toEqual(ids);
});

describe("The queue of webhooks", () => {
  it("gets a message for writes at most once a second, always after the last write, and none for reads and refusals", async () => {
    const clinic = await aClinicWithWebhooks();
    vi.setSystemTime(Date.now());
    const { messages } = clinic.queue;
    const now = Date.now();
    await clinic.client.get("/events");
    await clinic.client.post("/waiting_rooms", {});
    expect(messages).toEqual([]);
    await clinic.makeEvents(5);
    expect(messages.map(({ at }) => at - now)).toEqual([0, SECOND]);
    vi.setSystemTime(now + 500);
    await clinic.makeEvents();
    expect(messages).toHaveLength(2);
    vi.setSystemTime(now + 1200);
    await clinic.makeEvents(2);
    expect(messages.map(({ at }) => at - now)).toEqual([0, SECOND, 2200]);
    expect(new Set(messages.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set(['{"schema":"webhook_deliveries/1","webhook_endpoint_id":null}']),
    );
  });

  it("gets a message when the consumer of bulk invites writes", async () => {
    const { messages, binding } = aWebhookQueue();
    const clinic = await aClinicWithQueue({ WEBHOOKS: binding });
    const { messages: bulk } = await clinic.bulkInvite([anInvite()]);
    vi.setSystemTime(Date.now() + 2 * SECOND);
    messages.length = 0;
    await clinic.consume(bulk);
    expect(messages).toHaveLength(1);
  });
});

describe("POST /webhook_endpoints/{id}/redeliver", () => {
  const redeliver = async ({ client }: ClinicWithWebhooks, { id }: { id: number }, after: number) =>
    client.post(`/webhook_endpoints/${id}/redeliver`, { after });

  it("sends the events after an id again, with the same ids, whether they had been delivered or not", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver();
    const [first = 0, second = 0] = await clinic.makeEvents(2);
    await clinic.queue.pass(2 * SECOND);
    await clinic.updateEndpoint(endpoint, { is_active: false });
    const [missed] = await clinic.makeEvents();
    await clinic.updateEndpoint(endpoint, { is_active: true });
    await clinic.queue.pass(2 * SECOND);
    expect(idsOf(receiver.received)).toEqual([first, second]);
    const { status: answered, body } = await redeliver(clinic, endpoint, first);
    expect([answered, body]).toEqual([200, { redelivered_count: 2, next_after: null }]);
    await clinic.queue.pass(2 * SECOND);
    expect(idsOf(receiver.received)).toEqual([first, second, second, missed]);
    expect(receiver.received[2]?.headers["webhook-id"]).toBe(`evt_${second}`);
    const { body: none } = await redeliver(clinic, endpoint, missed ?? 0);
    expect(none).toEqual({ redelivered_count: 0, next_after: null });
  });

  it("restarts the attempts of a webhook that was given up", async () => {
    const { clinic, receiver, endpoint } = await aClinicWithReceiver(() => status(500));
    await clinic.makeEvents();
    await clinic.queue.pass(SECOND);
    await env.DB.prepare("update webhook_deliveries set attempts = 10, next_attempt_at = null").run();
    await given(redeliver(clinic, endpoint, 0));
    await clinic.queue.pass(SECOND);
    const retried = { attempts: 1, next_attempt_at: expect.any(String) };
    expect(await clinic.deliveries(endpoint)).toMatchObject([retried]);
    receiver.answer = () => status(200);
    await clinic.queue.pass(10 * SECOND);
    expect(await clinic.deliveries(endpoint)).toMatchObject([{ attempts: 2, next_attempt_at: null }]);
  });

  it("sends a webhook once more that is just being sent", async () => {
    const clinic = await aClinicWithWebhooks();
    const endpoint = { id: 0 };
    const receiver = aReceiver(async (_, count) => {
      if (count === 1) await given(redeliver(clinic, endpoint, 0));
      return status(200);
    });
    endpoint.id = (await clinic.addEndpoint(receiver)).id;
    const [id] = await clinic.makeEvents();
    vi.setSystemTime(Date.now() + 3 * SECOND);
    await clinic.queue.pass(5 * SECOND);
    expect(idsOf(receiver.received)).toEqual([id, id]);
  });

  it("continues with next_after after 1,000 events, and skips other types", async () => {
    const types = { event_types: ["call.started"] };
    const { clinic, endpoint } = await aClinicWithReceiver(undefined, types);
    await insertMany(
      2200,
      `insert into events (organization_id, type, data, created_at)
       select ?1, iif(n % 2, 'call.started', 'call.ended'), '{"call_id":1}', ?2 from counter`,
      clinic.id,
      Date.now(),
    );
    const first = (await redeliver(clinic, endpoint, 0)).body;
    expect(first).toEqual({ redelivered_count: 1000, next_after: expect.any(Number) });
    const rest = (await redeliver(clinic, endpoint, first.next_after)).body;
    expect(rest).toEqual({ redelivered_count: 100, next_after: null });
    await clinic.updateEndpoint(endpoint, { event_types: ["call.*"] });
    expect((await redeliver(clinic, endpoint, first.next_after)).body.redelivered_count).toBe(201);
  });
});

it("GET /webhook_endpoints/{id}/deliveries lists the newest first, and continues after the last one of a page", async () => {
  const { clinic, endpoint } = await aClinicWithReceiver();
  const path = `/webhook_endpoints/${endpoint.id}/deliveries`;
  expect(await given(clinic.client.get(path))).toEqual({ deliveries: [], next_after: null });
  const ids = (await clinic.makeEvents(5)).reverse();
  const shown = async (query: string) => {
    const { deliveries, next_after } = await given(clinic.client.get(path + query));
    return [deliveries.map((each: Delivery) => each.event_id), next_after];
  };
  expect(await shown("")).toEqual([ids, ids[4]]);
  expect(await shown("?per_page=2")).toEqual([ids.slice(0, 2), ids[1]]);
  expect(await shown(`?per_page=2&after=${ids[1]}`)).toEqual([ids.slice(2, 4), ids[3]]);
  expect(await shown(`?after=${ids[4]}`)).toEqual([[], ids[4]]);
});

it("POST /webhook_endpoints/{id}/ping sends a signed ping with its own id, follows no redirect, and returns the outcome", async () => {
  const [target, forbidden] = [aReceiver(), "https://169.254.169.254/latest/meta-data"];
  endpoints.set(forbidden, endpoints.get(target.url) ?? never);
  const { clinic, receiver, endpoint } = await aClinicWithReceiver(undefined, { is_active: false });
  const path = `/webhook_endpoints/${endpoint.id}/ping`;
  const ping = () => given(clinic.client.post(path, undefined));
  const timeout = waitingBriefly();
  for (const [answer, response_status, error] of [
    [() => status(204), 204, null],
    [() => status(500), 500, "The response status is not a success (200 to 299)"],
    [() => status(302, { Location: target.url }), 302, "The response is a redirect, which is not followed"],
    [never, null, "There was no response within 15 seconds"],
  ] as const) {
    receiver.answer = answer;
    expect(await ping()).toEqual({ response_status, error });
  }
  timeout.mockRestore();
  expectRefusal(await clinic.client.post(path, { type: "call.*" }), 422, /^type: must be a type of event: /);
  const [first] = receiver.received as [Received];
  expect(first.body).toEqual({ id: 0, type: "ping", test: true, timestamp: expect.any(String), data: {} });
  new Webhook(endpoint.secret).verify(first.text, first.headers);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(4);
  expect(await clinic.deliveries(endpoint)).toEqual([]);
  expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: false, disabled_reason: null });
  // This URL was allowed when it was stored.
  await env.DB.prepare("update webhook_endpoints set url = ? where id = ?")
    .bind(forbidden, endpoint.id)
    .run();
  const error = "The URL is not allowed: it must have a host name, not an IP address";
  expect(await ping()).toEqual({ response_status: null, error });
  expect(target.received).toEqual([]);
});

it("POST /webhook_endpoints/{id}/ping with a type sends the documented example of each type, even to an inactive endpoint, marked as a test, and leaves no event and no delivery", async () => {
  const options = { is_active: false, event_types: ["call.*"] };
  const { clinic, receiver, endpoint } = await aClinicWithReceiver(undefined, options);
  const path = `/webhook_endpoints/${endpoint.id}/ping`;
  await changingNothing(async () => {
    for (const type of EVENT_TYPES)
      expect(await given(clinic.client.post(path, { type }))).toEqual({
        response_status: 204,
        error: null,
      });
  });
  expect(receiver.received.map(({ text }) => text)).toEqual(
    EVENT_TYPES.map((type) => JSON.stringify(documentedExamples(type)[1])),
  );
  expect(receiver.received.map(({ body: { test, ...event } }) => [test, event])).toEqual(
    EVENT_TYPES.map((type) => [true, documentedExamples(type)[0]]),
  );
  for (const { text, headers } of receiver.received) {
    expect(headers["webhook-id"]).toMatch(/^test_[0-9a-f-]{36}$/);
    new Webhook(endpoint.secret).verify(text, headers);
  }
});

it("Webhook deliveries are kept for 30 days like their events, but not longer than their endpoint", async () => {
  const count = () => env.DB.prepare("select count(*) as n from webhook_deliveries").first("n");
  const clinic = await aClinicWithWebhooks();
  const [, deleted] = [await clinic.addEndpoint(aReceiver()), await clinic.addEndpoint(aReceiver())];
  await clinic.makeEvents(3);
  await clinic.queue.pass(29 * DAY);
  await clinic.makeEvents(2);
  await clinic.queue.runCron();
  expect(await count()).toBe(10);
  await given(clinic.client.delete(`/webhook_endpoints/${deleted.id}`));
  await clinic.queue.runCron();
  expect(await count()).toBe(5);
  await clinic.queue.pass(2 * DAY);
  await clinic.queue.runCron();
  await clinic.queue.runCron();
  expect(await count()).toBe(2);
});

it("Webhook deliveries are not read to send others if they are old, or wait at an endpoint that is down", async () => {
  const counting = countingRows();
  const queue = aWebhookQueue({ DB: counting.DB });
  const { clinic, receiver } = await aClinicWithReceiver();
  const dead = await aClinicWithWebhooks();
  await dead.addEndpoint(aReceiver());
  for (const { id } of [clinic, dead])
    await insertMany(
      5000,
      `insert into events (organization_id, type, data, created_at)
       select ?1, 'call.started', '{"call_id":1}', ?2 from counter`,
      id,
      Date.now(),
    );
  for (const [table, change, column] of [
    ["webhook_deliveries", "attempts = 1", "next_attempt_at"],
    ["webhook_endpoints", "url = url", "due_at"],
  ])
    await env.DB.prepare(`update ${table} set ${change}, ${column} = iif(organization_id = ?, null, ?)`)
      .bind(clinic.id, Date.now() + DAY)
      .run();
  const [id] = await clinic.makeEvents();
  const message = { schema: "webhook_deliveries/1", webhook_endpoint_id: null };
  const { rows_read } = await counting.during(() => queue.deliver(message));
  expect(idsOf(receiver.received)).toEqual([id]);
  expect(rows_read).toBeLessThan(40);
});

it("The log of failing webhooks names neither their URL nor their secret", async () => {
  const clinic = await aClinicWithWebhooks();
  const receiver = aReceiver((_, count) => {
    if (count === 1) throw new TypeError(`fetch failed: ${receiver.url}`);
    return status(410);
  });
  const endpoint = await clinic.addEndpoint(receiver);
  const { secret } = endpoint;
  await clinic.makeEvents(2);
  const lines = await logOf(async () => {
    await clinic.queue.pass(SECOND);
    const error = "The endpoint could not be reached";
    expect((await clinic.deliveries(endpoint)).at(-1)).toMatchObject({ response_status: null, error });
    await clinic.queue.pass(10 * SECOND);
  });
  const log = JSON.stringify(lines);
  expect(log).toContain('"event":"webhook_endpoint_disabled"');
  for (const hidden of [receiver.url, new URL(receiver.url).host, secret, secret.slice(6)])
    expect(log).not.toContain(hidden);
});

import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { Chance } from "../../support/chance.ts";
import { aFaultyDatabase } from "../support/faulty_database.ts";
import { insertMany } from "../support/rows.ts";
import { aClinicWithWebhooks, aReceiver, aWebhookQueue, status } from "../support/webhooks.ts";

const EVENTS = 1000;

it(`Webhooks bring ${EVENTS} events to five endpoints, each at least once, whatever fails`, async () => {
  const chance = new Chance(11);
  const clinic = await aClinicWithWebhooks();
  const receivers = Array.from({ length: 5 }, () =>
    aReceiver(() => {
      const number = chance.number();
      if (number < 0.05) throw new TypeError("Network connection lost.");
      return status(number < 0.2 ? 500 : number < 0.25 ? 301 : 204);
    }),
  );
  const endpoints = [];
  for (const receiver of receivers) endpoints.push(await clinic.addEndpoint(receiver));
  await insertMany(
    EVENTS,
    `insert into events (organization_id, type, data, created_at)
     select ?, 'call.started', '{"call_id":1,"organization_user_id":1}', ? from counter`,
    ...[clinic.id, Date.now()],
  );

  // A consumer may die between sending and recording, and after recording.
  let deaths = 0;
  const DB = aFaultyDatabase(() => {
    const number = chance.number();
    if (number >= 0.06) return undefined;
    deaths++;
    return number < 0.03 ? "not made" : "answer lost";
  });
  const queue = aWebhookQueue({ DB });
  // Many messages come twice, at the same time. Once, the queue loses all its messages.
  let messages = 0;
  const deliver = async (body: unknown) => {
    if (++messages === 20) queue.messages.length = 0;
    await Promise.all(
      chance.number() < 0.3 ? [queue.deliver(body), queue.deliver(body)] : [queue.deliver(body)],
    );
  };
  await queue.runCron();
  await queue.passUntilDone(deliver);
  expect(messages).toBeGreaterThan(100);

  expect(deaths).toBeGreaterThan(10);
  const left = await env.DB.prepare(
    "select max(attempts) as most, count(next_attempt_at) as pending from webhook_deliveries where organization_id = ?",
  )
    .bind(clinic.id)
    .first();
  expect(left).toEqual({ most: expect.any(Number), pending: 0 });
  expect(left?.most).toBeLessThanOrEqual(10);
  const { results } = await env.DB.prepare(
    "select id from events where organization_id = ? and type = 'call.started'",
  )
    .bind(clinic.id)
    .all<{ id: number }>();
  const ids = results.map(({ id }) => id);
  expect(ids).toHaveLength(EVENTS);
  for (const { received } of receivers) {
    const idsReceived = new Set(received.map(({ body }) => body.id));
    const unheard = ids.filter((id) => !idsReceived.has(id));
    expect(unheard).toEqual([]);
    const textsOf = new Map<string, Set<string>>();
    for (const { headers, text, body } of received) {
      expect(headers["webhook-id"]).toBe(`evt_${body.id}`);
      textsOf.set(body.id, (textsOf.get(body.id) ?? new Set()).add(text));
    }
    for (const texts of textsOf.values()) expect(texts.size).toBe(1);
    // A quarter of the requests fails, and a few are sent twice because a consumer died.
    expect(received.length).toBeLessThan(EVENTS * 1.8);
  }
}, 120_000);

it("The log of failing webhooks names neither their URL nor their secret", async () => {
  const lines: string[] = [];
  const spies = (["log", "error", "warn"] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((line) => {
      lines.push(String(line));
    }),
  );
  const clinic = await aClinicWithWebhooks();
  const receiver = aReceiver((_, count) => {
    if (count === 1) throw new TypeError(`fetch failed: ${receiver.url}`);
    return status(410);
  });
  const { secret } = await clinic.addEndpoint(receiver);
  await clinic.makeEvents(2);
  await clinic.queue.pass(10_000);
  for (const spy of spies) spy.mockRestore();
  const log = lines.join("\n");
  expect(log).toContain('"event":"webhook_endpoint_disabled"');
  for (const hidden of [receiver.url, new URL(receiver.url).host, secret, secret.slice(6)])
    expect(log).not.toContain(hidden);
});

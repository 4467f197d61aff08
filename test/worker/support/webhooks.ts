import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import { platform } from "./api.ts";
import { expectWebhookAsDocumented } from "./contract.ts";
import { runCronOf } from "./cron.ts";
import { asDeployed, withShard } from "./deployed.ts";
import { endpoints } from "./network.ts";
import { anOrganization, given, unique } from "./organization.ts";
import { aTimedQueue, nextCron } from "./timed_queue.ts";
import { throughWorkerWith } from "./worker.ts";

export interface Received {
  headers: Record<string, string>;
  /** The raw body. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body
  body: any;
  at: number;
}

type Answer = (received: Received, count: number) => Response | Promise<Response>;

const undocumented: unknown[] = [];

/** Call after each test: while a webhook is sent, the error would count as a failure of the receiver. */
export function expectWebhooksAsDocumented() {
  const [first] = undocumented.splice(0);
  if (first) throw first;
}

/** A receiver of webhooks. It accepts everything, unless `answer` says otherwise. */
export function aReceiver(answer: Answer = () => new Response(null, { status: 204 })) {
  const receiver = {
    url: `https://${unique("hooks")}.example.com/visits`,
    received: [] as Received[],
    answer,
  };
  endpoints.set(receiver.url, async (request) => {
    const text = await request.text();
    const headers = Object.fromEntries(request.headers);
    const received = { headers, text, body: JSON.parse(text), at: Date.now() };
    receiver.received.push(received);
    try {
      expectWebhookAsDocumented(request.headers, received.body);
    } catch (error) {
      undocumented.push(error);
    }
    return receiver.answer(received, receiver.received.length);
  });
  return receiver;
}

export const status = (code: number, headers: Record<string, string> = {}) =>
  new Response(null, { status: code, headers });

/** An answer that never comes. The Worker waits for it as long as the test says. */
export const never = () => new Promise<Response>(() => {});

/** A webhook queue and a cron that run only when the test says so. */
export function aWebhookQueue(bindings: object = {}) {
  const queue = aTimedQueue();
  const { messages, binding } = queue;
  const bound = asDeployed({ ...env, ...bindings, WEBHOOKS: binding });

  /** Delivers one message, and waits for the background work of the consumer. */
  async function deliver(body: unknown) {
    const message = { id: unique("message"), timestamp: new Date(), attempts: 1, body: withShard(body) };
    const batch = createMessageBatch("webhook-deliveries", [message]);
    const context = createExecutionContext();
    await worker.queue(batch, bound, context);
    await waitOnExecutionContext(context);
  }

  const pass = (milliseconds: number, deliverMessage = deliver) => queue.pass(milliseconds, deliverMessage);

  const runCron = () => runCronOf(bound);

  /** Lets time pass until nothing is pending. The cron runs if something is due without a message. */
  async function passUntilDone(deliverMessage = deliver) {
    const firstDue = "select min(due_at) as due_at from webhook_endpoints where is_active";
    for (;;) {
      const due_at = await env.DB.prepare(firstDue).first<number>("due_at");
      if (due_at === null) return;
      await pass(nextCron(due_at) - Date.now(), deliverMessage);
      await runCron();
    }
  }

  return { messages, binding, deliver, pass, runCron, passUntilDone };
}

/** An organization whose requests go to a Worker with a webhook queue that the test delivers. */
export async function aClinicWithWebhooks(bindings: object = {}) {
  const queue = aWebhookQueue(bindings);
  const clinic = await anOrganization();
  const fetcher = throughWorkerWith({ ...bindings, WEBHOOKS: queue.binding });
  const client = { ...clinic.client, ...clinic.client.through(fetcher) };
  const through = platform.through(fetcher);
  return {
    ...clinic,
    client,
    queue,
    addEndpoint: ({ url }: { url: string }, more: object = {}) =>
      given(client.post("/webhook_endpoints", { webhook_endpoint: { url, ...more } })),
    updateEndpoint: ({ id }: { id: number }, webhook_endpoint: object) =>
      given(client.put(`/webhook_endpoints/${id}`, { webhook_endpoint })),
    endpoint: ({ id }: { id: number }) => given(client.get(`/webhook_endpoints/${id}`)),
    deliveries: async ({ id }: { id: number }, query = "") =>
      (await given(client.get(`/webhook_endpoints/${id}/deliveries${query}`))).deliveries,
    async makeEvents(count = 1) {
      const ids: number[] = [];
      for (let n = 0; n < count; n++) {
        const email = `${unique("member")}@example.com`;
        const user = { email, display_name: "Max Member", roles: ["provider_assistant"] };
        await given(through.post(`/organizations/${clinic.id}/users`, { user }));
        const latest = "select max(id) as id from events where organization_id = ?";
        ids.push(Number(await env.DB.prepare(latest).bind(clinic.id).first("id")));
      }
      return ids;
    },
  };
}

export async function aClinicWithReceiver(answer?: Answer, more: object = {}) {
  const clinic = await aClinicWithWebhooks();
  const receiver = aReceiver(answer);
  return { clinic, receiver, endpoint: await clinic.addEndpoint(receiver, more) };
}

export type ClinicWithWebhooks = Awaited<ReturnType<typeof aClinicWithWebhooks>>;

import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import worker from "../../../src/index.ts";
import { platform } from "./api.ts";
import { runCronOf } from "./cron.ts";
import { asDeployed, withShard } from "./deployed.ts";
import { anInvite, anOrganization, given, unique } from "./organization.ts";
import { aTimedQueue, nextCron } from "./timed_queue.ts";
import { throughWorkerWith } from "./worker.ts";

export const MAIL_FROM = "invites@clinic.test";

export interface SentMail {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  at: number;
}

export const mailError = (code: string) =>
  Object.assign(new Error(`${code}: the mail to somebody@example.com was not taken`), { code });

/** A mail binding that fails as `faultOf` says, or sends the mail with wrangler's simulation and keeps it. */
export function aMailProvider(faultOf: (mail: SentMail) => string | undefined = () => undefined) {
  const provider = {
    sent: [] as SentMail[],
    /** How many mails it was asked to send, including those that failed. */
    attempts: 0,
    faultOf,
    to: ({ email }: { email: string }) => provider.sent.filter(({ to }) => to === email),
    binding: {
      async send(mail: Omit<SentMail, "at">) {
        provider.attempts++;
        const sent = { ...mail, at: Date.now() };
        const fault = provider.faultOf(sent);
        if (fault) throw mailError(fault);
        const result = await env.EMAIL.send(mail);
        provider.sent.push(sent);
        return result;
      },
    } as unknown as SendEmail,
  };
  return provider;
}

/** A Worker whose mail queue and cron run only when the test says so. */
export function aMailWorker(bindings: object) {
  const queue = aTimedQueue();
  const bound = { ...env, MAIL_FROM, INVITE_MAILS: queue.binding, ...bindings };
  const deployed = asDeployed(bound);

  /** Delivers one message, and returns whether it was acknowledged. */
  async function deliver(body: unknown, name = "invite-mails") {
    const message = { id: unique("message"), timestamp: new Date(), attempts: 1, body: withShard(body) };
    const batch = createMessageBatch(name, [message]);
    const retries = batch.messages.map((each) => vi.spyOn(each, "retry"));
    const context = createExecutionContext();
    await worker.queue(batch, deployed, context);
    await waitOnExecutionContext(context);
    return retries.every(({ mock }) => mock.calls.length === 0);
  }

  const pass = (milliseconds: number) => queue.pass(milliseconds, deliver);

  const runCron = () => runCronOf(deployed);

  /** Runs the cron each time a mail of the organization is due, until none is left. */
  async function passUntilDone({ id }: { id: number }) {
    const firstDue = "select min(next_mail_at) as at from invites where organization_id = ?";
    for (;;) {
      await pass(2000);
      const at = await env.DB.prepare(firstDue).bind(id).first<number>("at");
      if (at === null) return;
      await pass(nextCron(at) - Date.now());
      await runCron();
    }
  }

  return {
    bindings: bound,
    fetcher: throughWorkerWith(bound),
    messages: queue.messages,
    deliver,
    pass,
    runCron,
    passUntilDone,
  };
}

/** Drops due mails when the test ends, because other tests would send them. */
function leavingNoMails({ id }: { id: number }) {
  onTestFinished(async () => {
    await env.DB.prepare("update invites set next_mail_at = null where organization_id = ?").bind(id).run();
  });
}

export async function aClinicWithMail(
  provider = aMailProvider(),
  bindings: object = {},
  name = "Riverside Clinic",
) {
  const mails = aMailWorker({ EMAIL: provider.binding, ...bindings });
  const clinic = await anOrganization(name);
  leavingNoMails(clinic);
  const client = { ...clinic.client, ...clinic.client.through(mails.fetcher) };
  return {
    ...clinic,
    client,
    provider,
    mails,
    platform: platform.through(mails.fetcher),
    invite: (more: object = {}) => given(client.post("/invites", { organization_invite: anInvite(more) })),
    read: ({ id }: { id: number }) => given(client.get(`/invites/${id}`)),
    resend: ({ id }: { id: number }) => client.post(`/invites/${id}/resend`, undefined),
    /** The ids of the invites that have an event of the type. */
    eventsOf: async (type: string) =>
      (await given(client.get(`/events?type=${type}&per_page=100`))).events.map(
        ({ data }: { data: { invite_id: number } }) => data.invite_id,
      ),
    mailsUntilDone: () => mails.passUntilDone(clinic),
  };
}

export const tokenIn = ({ text }: SentMail) => /token=(\S+)/.exec(text)?.[1] ?? "";

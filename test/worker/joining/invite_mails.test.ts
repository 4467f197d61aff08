import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { QUIETING_STATEMENTS, RESUMING_STATEMENTS } from "../../../src/dev/quiet_statements.ts";
import { MAIL_TIMEOUT } from "../../../src/tuning.ts";
import { DAY, MINUTE } from "../../../src/units.ts";
import { api, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { countingRoundTrips } from "../support/database.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, letAge, tokenOf } from "../support/invites.ts";
import { aClinicWithMail, aMailProvider, aMailWorker, MAIL_FROM, tokenIn } from "../support/mails.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anInvite, anOrganization, given, unique } from "../support/organization.ts";
import { aClinicWithQueue, invitesOf } from "../support/queue.ts";
import { travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const MESSAGE = { schema: "invite_mails/1" };

describe("The mail of an invite", () => {
  it("is sent once, right after the request, with the same link that the platform gets", async () => {
    const clinic = await aClinicWithMail();
    const invite = await clinic.invite();
    expect(invite).toMatchObject({ mail_status: "queued", mailed_at: null });
    expect(clinic.mails.messages.map(({ body }) => body)).toEqual([MESSAGE]);
    // While mail is off, queued mails wait.
    await aMailWorker({ EMAIL: clinic.provider.binding, MAIL_FROM: "" }).deliver(MESSAGE);
    expect(await clinic.read(invite)).toMatchObject({ mail_status: "queued" });
    await clinic.mailsUntilDone();
    const [mail, ...others] = clinic.provider.to(invite);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ from: MAIL_FROM, subject: "Invitation to Riverside Clinic" });
    const { accept_url } = await given(platform.get(`/organizations/${clinic.id}/invites/${invite.id}`));
    expect(mail?.text).toContain(`\n${accept_url}\n`);
    expect(await clinic.read(invite)).toEqual({ ...invite, mail_status: "sent", mailed_at: aTimestamp });
    expect((await acceptToken(mail && tokenIn(mail))).status).toBe(200);
    expect(await clinic.read(invite)).toMatchObject({ mail_status: "sent", used_at: aTimestamp });
    expect(await clinic.eventsOf("invite.created")).toEqual([invite.id]);
    expect(await clinic.eventsOf("invite.mail_failed")).toEqual([]);
  });

  it.each<[string, (invite: Invite, clinic: Clinic) => Promise<unknown>]>([
    ["was removed", ({ id }, { client }) => given(client.delete(`/invites/${id}`))],
    ["was used", (invite) => given(accept(invite))],
    ["has expired", (invite) => update("expires_at = 1", invite)],
  ])("is never sent for an invite that %s just before the mail is leased", async (_, end) => {
    const clinic = await aClinicWithMail();
    const invite = await clinic.invite();
    const { DB, isDone } = beforeLeasing(() => end(invite, clinic));
    const watched = aMailWorker({ EMAIL: clinic.provider.binding, DB });
    await watched.deliver(MESSAGE);
    await watched.passUntilDone(clinic);
    expect(isDone()).toBe(true);
    expect(clinic.provider.to(invite)).toEqual([]);
  });
});

type Clinic = Awaited<ReturnType<typeof aClinicWithMail>>;
type Invite = { id: number; organization_id: number; email: string };

/** A database that does this work once, right before a mail is leased. */
function beforeLeasing(work: () => Promise<unknown>) {
  let [isLeasing, isDone] = [false, false];
  const DB = observedDatabase({
    prepare: (text) => {
      isLeasing ||= text.startsWith(`update "invites" set "next_mail_at" = ?, "mail_leases"`);
    },
    query: async (run) => {
      if (isLeasing && !isDone) {
        isDone = true;
        await work();
      }
      return run();
    },
  });
  return { DB, isDone: () => isDone };
}

const update = (set: string, { id }: { id: number }) =>
  env.DB.prepare(`update invites set ${set} where id = ?`).bind(id).run();

describe("A sender that dies after the mail was sent", () => {
  /** A clinic, and senders that die before they record a sent mail, the first `times` times. */
  async function aClinicWithDyingSenders(times: number) {
    let [failures, isRecording] = [0, false];
    const DB = observedDatabase({
      prepare: (text) => {
        isRecording = text.includes(`"mailed_at" = ?`);
      },
      query: async (run) => {
        if (!isRecording || failures++ >= times) return run();
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const clinic = await aClinicWithMail();
    return { ...clinic, senders: aMailWorker({ EMAIL: clinic.provider.binding, DB }) };
  }

  it("causes a second mail when its lease is over, and not before", async () => {
    const clinic = await aClinicWithDyingSenders(1);
    const invite = await clinic.invite();
    expect(await clinic.senders.deliver(MESSAGE)).toBe(false);
    expect(clinic.provider.to(invite)).toHaveLength(1);
    await clinic.senders.deliver(MESSAGE);
    await clinic.senders.pass(4 * MINUTE);
    await clinic.senders.runCron();
    await clinic.senders.pass(1000);
    expect(clinic.provider.to(invite)).toHaveLength(1);
    await clinic.senders.passUntilDone(clinic);
    expect(clinic.provider.to(invite)).toHaveLength(2);
    expect(await clinic.read(invite)).toMatchObject({ mail_status: "sent" });
  });

  it.each([
    ["takes every mail", () => undefined],
    ["takes only every other mail", (n: number) => (n % 2 === 0 ? undefined : "E_RATE_LIMIT_EXCEEDED")],
  ])(
    "causes two mails at most, after which the mail counts as failed, if the provider %s",
    async (_, fault) => {
      const clinic = await aClinicWithDyingSenders(Number.POSITIVE_INFINITY);
      let n = 0;
      clinic.provider.faultOf = () => fault(n++);
      const invite = await clinic.invite();
      await clinic.senders.deliver(MESSAGE);
      await clinic.senders.passUntilDone(clinic);
      await clinic.senders.pass(DAY);
      await clinic.senders.runCron();
      await clinic.senders.pass(1000);
      expect(clinic.provider.to(invite)).toHaveLength(2);
      expect(await clinic.read(invite)).toMatchObject({ mail_status: "failed", mailed_at: null });
      expect(await clinic.eventsOf("invite.mail_failed")).toEqual([invite.id]);
    },
  );
});

it("A mail that the provider never answers delays no other mail, and is tried once more", async () => {
  // The time limit of a mail starts right before the mail is given to the provider.
  let limit = new AbortController();
  const limits = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    limit = new AbortController();
    return limit.signal;
  });
  onTestFinished(() => limits.mockRestore());
  const clinic = await aClinicWithMail();
  const { send } = clinic.provider.binding;
  const unanswered: string[] = [];
  clinic.provider.binding.send = (async (mail: { to: string }) => {
    if (mail.to !== invites[0].email) return send(mail as never);
    unanswered.push(mail.to);
    const own = limit;
    setTimeout(() => own.abort());
    return new Promise(() => {});
  }) as never;
  const invites = await Promise.all(Array.from({ length: 6 }, () => clinic.invite()));
  expect(await clinic.mails.deliver(MESSAGE)).toBe(true);
  expect(limits).toHaveBeenCalledWith(MAIL_TIMEOUT);
  const [silent, ...others] = invites;
  for (const invite of others) {
    expect(clinic.provider.to(invite)).toHaveLength(1);
    expect(await clinic.read(invite)).toMatchObject({ mail_status: "sent" });
  }
  expect(await clinic.read(silent)).toMatchObject({ mail_status: "queued", mailed_at: null });
  await clinic.mails.deliver(MESSAGE);
  expect(unanswered).toHaveLength(1);
  await clinic.mailsUntilDone();
  expect(unanswered).toHaveLength(2);
  expect(await clinic.read(silent)).toMatchObject({ mail_status: "failed", mailed_at: null });
});

describe("POST /invites/{id}/resend", () => {
  it("renews an expired invite once for thirty requests at once, with a new link, and returns 429 to the others", async () => {
    const clinic = await aClinicWithMail();
    const invite = await clinic.invite();
    await clinic.mailsUntilDone();
    const oldToken = await tokenOf(invite);
    expect(clinic.provider.to(invite).map(tokenIn)).toEqual([oldToken]);
    await update("expires_at = 1", invite);
    await letAge(invite);
    const answers = await atOnce(30, () => clinic.resend(invite));
    expect(statusesOf(answers)).toEqual({ 202: 1, 429: 29 });
    const resent = answers.find(({ status }) => status === 202);
    for (const { headers } of answers.filter(({ status }) => status === 429)) {
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(Number(headers.get("Retry-After"))).toBeLessThanOrEqual(60);
    }
    expect(resent?.body).toMatchObject({ id: invite.id, mail_status: "queued", mailed_at: aTimestamp });
    await clinic.mailsUntilDone();
    const [, mail, ...others] = clinic.provider.to(invite);
    expect(others).toEqual([]);
    expectRefusal(await acceptToken(oldToken), 404);
    expect((await acceptToken(mail && tokenIn(mail))).status).toBe(200);
  });

  it("sends a second mail even if the first one is just being sent", async () => {
    const clinic = await aClinicWithMail();
    const invite = await clinic.invite();
    const { binding } = clinic.provider;
    const { send } = binding;
    binding.send = (async (mail: never) => {
      binding.send = send;
      await letAge(invite);
      await given(clinic.resend(invite));
      return send(mail);
    }) as never;
    await clinic.mailsUntilDone();
    const [old, last, ...others] = clinic.provider.to(invite);
    expect(others).toEqual([]);
    expectRefusal(await acceptToken(old && tokenIn(old)), 404);
    expect((await acceptToken(last && tokenIn(last))).status).toBe(200);
  });
});

/** Sets how many invites an organization has mailed today. */
const haveMailed = ({ id }: { id: number }, count: number) =>
  env.DB.prepare(
    `insert into organization_days (organization_id, date, mails) values (?1, ?2, ?3)
     on conflict do update set mails = ?3`,
  )
    .bind(id, new Date().toISOString().slice(0, 10), count)
    .run();

const TOO_MANY = /^The organization has mailed 2,000 invites today/;

const TOO_MANY_TO_ADDRESS = /^The organization has mailed this address 3 times today/;

const NOON = "2026-11-24T12:00:00Z";

describe("The limit of mails", () => {
  /** A clinic at noon, and an address that can have any tag. */
  async function aClinicAtNoon() {
    travelTo(NOON);
    const clinic = await aClinicWithMail();
    const name = unique("victim");
    const email = (tag = "") => `${name}${tag}@example.com`;
    const ask = (address = email()) =>
      clinic.client.post("/invites", { organization_invite: anInvite({ email: address }) });
    return { ...clinic, email, ask };
  }

  it("per address is three a day, with any tag and even if a mail fails or the invites are deleted, and then stores no address", async () => {
    const clinic = await aClinicAtNoon();
    for (const [tag, mail_status] of [
      ["", "sent"],
      ["+visits", "failed"],
      ["+a+b", "sent"],
    ] as const) {
      clinic.provider.faultOf = () => (mail_status === "failed" ? "E_VALIDATION_ERROR" : undefined);
      const invite = await given(clinic.ask(clinic.email(tag)));
      await clinic.mailsUntilDone();
      expect(await clinic.read(invite)).toMatchObject({ mail_status });
      await given(clinic.client.delete(`/invites/${invite.id}`));
    }
    const refused = await clinic.ask();
    expectRefusal(refused, 429, TOO_MANY_TO_ADDRESS);
    const seconds = Number(refused.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThan(11 * 3600);
    expect(seconds).toBeLessThanOrEqual(12 * 3600);
    const other = await aClinicWithMail();
    await other.invite({ email: clinic.email() });
    const rows = await countsOf(clinic);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/@|example|Ivy|victim/);
    for (const [time, count] of [
      ["2026-11-24T23:55:00Z", 1],
      ["2026-11-25T00:05:00Z", 0],
    ] as const) {
      travelTo(time);
      await clinic.mails.runCron();
      expect(await countsOf(clinic)).toHaveLength(count);
    }
    await given(clinic.ask());
  });

  it("per address lets three of thirty requests at once through", async () => {
    const clinic = await aClinicAtNoon();
    const answers = await atOnce(30, (n) => clinic.ask(clinic.email(`+${n}`)));
    expect(statusesOf(answers)).toEqual({ 201: 3, 429: 27 });
    await clinic.mailsUntilDone();
    const sent = clinic.provider.sent.filter(({ to }) => answers.some(({ body }) => body.email === to));
    expect(sent).toHaveLength(3);
  });

  it("per organization is 2,000 a day, even for requests at once, and does not affect others", async () => {
    const clinic = await aClinicAtNoon();
    await haveMailed(clinic, 1997);
    const answers = await atOnce(10, (n) => clinic.ask(`${unique("person")}${n}@example.com`));
    expect(statusesOf(answers)).toEqual({ 201: 3, 429: 7 });
    expectRefusal(await changingNothing(() => clinic.ask()), 429, TOO_MANY);
    await (await aClinicWithMail()).invite();
    travelTo("2026-11-25T00:00:00Z");
    await given(clinic.ask());
  });

  it("fails only the affected rows of a bulk invite, with its error, and the others are mailed", async () => {
    travelTo(NOON);
    const provider = aMailProvider();
    const mails = aMailWorker({ EMAIL: provider.binding });
    const { INVITE_MAILS } = mails.bindings;
    const clinic = await aClinicWithQueue({ MAIL_FROM, EMAIL: provider.binding, INVITE_MAILS });
    const name = unique("victim");
    const emails = [1, 2, 3, 4].map((n) => `${name}+${n}@example.com`);
    await given(clinic.client.post("/invites", { organization_invite: anInvite({ email: emails[0] }) }));
    const toAddress = emails.slice(1).map((email) => anInvite({ email }));
    const first = await clinic.bulkInvite([...toAddress, ...invitesOf(60)]);
    for (const message of first.messages) await clinic.consume([message, message]);
    expect(await clinic.progressOf(first)).toMatchObject({
      created_count: 62,
      failures: [{ row: 2, email: emails[3], error: expect.stringMatching(TOO_MANY_TO_ADDRESS) }],
    });
    await mails.passUntilDone(clinic);
    expect(emails.map((email) => provider.to({ email }).length)).toEqual([1, 1, 1, 0]);
    await haveMailed(clinic, 1940);
    const second = await clinic.bulkInvite(invitesOf(100));
    await clinic.consume(second.messages);
    expect(await clinic.progressOf(second)).toMatchObject({
      created_count: 60,
      failures: Array(40).fill({ error: expect.stringMatching(TOO_MANY) }),
    });
  });
});

const countsOf = async ({ id }: { id: number }) =>
  (await env.DB.prepare("select * from mailed_addresses where organization_id = ?").bind(id).all()).results;

it("The name in a mail is the one that the platform set last, never one that the organization set itself", async () => {
  const clinic = await aClinicWithMail();
  const evil = { name: "PayPal Security: confirm at https://evil.example or evil.example" };
  const renameItself = () => given(clinic.client.put("/organization", { organization: evil }));
  const rename = (organization: object) =>
    given(platform.put(`/organizations/${clinic.id}`, { organization }));
  const mailed = async () => {
    const invite = await clinic.invite();
    await clinic.mailsUntilDone();
    const [mail] = clinic.provider.to(invite);
    expect(JSON.stringify(mail).replaceAll(await tokenOf(invite), "")).not.toMatch(/paypal|evil/i);
    return mail;
  };
  expect((await renameItself()).name).toBe(evil.name);
  expect(await mailed()).toMatchObject({ from: MAIL_FROM, subject: "Invitation to Riverside Clinic" });
  await rename({ name: "Lakeside <b>Clinic</b> https://evil.example me@evil.example" });
  await renameItself();
  await rename({ recording_retention_days: 9 });
  const mail = await mailed();
  expect(mail?.subject).toBe("Invitation to Lakeside <b>Clinic</b>");
  expect(mail?.html).toContain("Lakeside &lt;b&gt;Clinic&lt;/b&gt;");
});

it.each([
  ["MAIL_FROM", { MAIL_FROM: "" }],
  ["the binding EMAIL", { EMAIL: undefined }],
])(
  "Without %s, invites still work, no message is sent, and no limit of mails counts",
  async (_, bindings) => {
    const clinic = await aClinicWithMail(aMailProvider(), bindings);
    const invite = await clinic.invite();
    expect(invite).toMatchObject({ mail_status: "off", mailed_at: null });
    expect(clinic.mails.messages).toEqual([]);
    await haveMailed(clinic, 2000);
    for (const tag of [1, 2, 3, 4]) await clinic.invite({ email: invite.email.replace("@", `+${tag}@`) });
    expect(await countsOf(clinic)).toEqual([]);
    await letAge(invite);
    expect((await clinic.resend(invite)).body).toMatchObject({ mail_status: "off" });
    await clinic.mails.runCron();
    await clinic.mails.deliver(MESSAGE);
    expect(clinic.mails.messages).toEqual([]);
    expect(clinic.provider.attempts).toBe(0);
    const health = await api("", {}).through(clinic.mails.fetcher).get("/health");
    expect(health.body).toMatchObject({ mail: "off" });
  },
);

it("A mail is tried again after a temporary error, but not after a permanent one, and no message, log line or event has an address, a name or a link", async () => {
  const spies = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  const faults = ["E_RATE_LIMIT_EXCEEDED", "E_VALIDATION_ERROR"];
  const provider = aMailProvider(() => faults.shift());
  const clinic = await aClinicWithMail(provider, {}, "Zebediah Hospital");
  const secret = { email: `${unique("wilhelmina")}@quincey.example`, display_name: "Wilhelmina Quincey" };
  const bodies: string[] = [];
  const collect = () => bodies.push(...clinic.mails.messages.map(({ body }) => JSON.stringify(body)));
  const invite = await clinic.invite(secret);
  collect();
  await clinic.mails.pass(1000);
  expect(await clinic.read(invite)).toMatchObject({ mail_status: "queued", mailed_at: null });
  await clinic.mailsUntilDone();
  expect(provider.attempts).toBe(2);
  expect(await clinic.read(invite)).toEqual({ ...invite, mail_status: "failed" });
  expect(await clinic.eventsOf("invite.mail_failed")).toEqual([invite.id]);
  await letAge(invite);
  expect(await given(clinic.resend(invite))).toMatchObject({ mail_status: "queued" });
  collect();
  await clinic.mailsUntilDone();
  expect(await clinic.read(invite)).toMatchObject({ mail_status: "sent", mailed_at: aTimestamp });
  const lines = spies.flatMap(({ mock }) => mock.calls.map((said) => said.map(String).join(" ")));
  for (const spy of spies) spy.mockRestore();
  const { events } = await given(clinic.client.get("/events?per_page=100"));
  expect(provider.to(invite)).toHaveLength(1);
  const said = lines.filter((line) => line.includes("invite_mail_")).map((line) => JSON.parse(line));
  const ids = { organization_id: clinic.id, invite_id: invite.id };
  expect(said).toContainEqual({ event: "invite_mail_deferred", ...ids, reason: "E_RATE_LIMIT_EXCEEDED" });
  expect(said).toContainEqual({ event: "invite_mail_failed", ...ids, reason: "E_VALIDATION_ERROR" });
  expect(bodies.length).toBeGreaterThan(0);
  for (const text of [...lines, ...bodies, JSON.stringify(events)])
    expect(text).not.toMatch(/wilhelmina|quincey|zebediah|token=|somebody@/i);
});

it("A restored database drops queued mail, even if it was found due just before, and sends newer mail once it is resumed", async () => {
  const run = (statements: string[]) => env.DB.batch(statements.map((text) => env.DB.prepare(text)));
  onTestFinished(async () => {
    await run(RESUMING_STATEMENTS);
  });
  const { DB } = beforeLeasing(() => run(QUIETING_STATEMENTS));
  const clinic = await aClinicWithMail();
  const before = await clinic.invite();
  await aMailWorker({ EMAIL: clinic.provider.binding, DB }).deliver(MESSAGE);
  expect(await clinic.read(before)).toMatchObject({ mail_status: "failed", mailed_at: null });
  const since = await clinic.invite();
  await clinic.mails.pass(10 * MINUTE);
  await clinic.mails.runCron();
  await clinic.mails.pass(1000);
  expect(clinic.provider.attempts).toBe(0);
  await run(RESUMING_STATEMENTS);
  await clinic.mails.runCron();
  await clinic.mailsUntilDone();
  expect(clinic.provider.to(before)).toEqual([]);
  expect(clinic.provider.to(since)).toHaveLength(1);
  await given(clinic.resend(before));
  await clinic.mailsUntilDone();
  expect(clinic.provider.to(before)).toHaveLength(1);
});

describe("GET /invites of the platform API", () => {
  it("lists the active invites of all organizations by id, with links", async () => {
    const [one, two] = [await anOrganization(), await anOrganization()];
    const { id: after } = await one.addInvite();
    const used = await one.addInvite();
    await given(accept(used));
    const expired = await one.addInvite();
    await update("expires_at = 1", expired);
    const active = [await two.addInvite(), await one.addInvite(), await two.addInvite()];
    const list = (query: string) => given(platform.get(`/invites?${query}`));
    const first = await list(`status=active&after=${after}&per_page=2`);
    expect(first.organization_invites).toMatchObject(active.slice(0, 2).map(({ id }) => ({ id })));
    expect(first.next_after).toBe(active[1].id);
    const second = await list(`after=${first.next_after}`);
    expect(second.organization_invites[0]).toEqual(await given(two.platform.get(`/invites/${active[2].id}`)));
    const end = await list(`after=${second.next_after}`);
    expect(end).toEqual({ organization_invites: [], next_after: second.next_after });
  });

  it("shows the name that the platform chose, and no suspended organization", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const list = async () => {
      const { organization_invites } = await given(platform.get(`/invites?after=${invite.id - 1}`));
      return organization_invites.filter(({ id }: Invite) => id === invite.id);
    };
    await given(clinic.client.put("/organization", { organization: { name: "Your Bank" } }));
    expect(await list()).toMatchObject([{ id: invite.id, organization_name: clinic.name }]);
    await given(clinic.platform.put("", { organization: { is_suspended: true } }));
    expect(await list()).toEqual([]);
    await given(clinic.platform.put("", { organization: { is_suspended: false } }));
    expect(await list()).toHaveLength(1);
  });
});

it("POST /invites and POST /invites/{id}/resend cost no further round trip with mail on", async () => {
  const clinic = await aClinicWithMail();
  const counting = countingRoundTrips({
    MAIL_FROM,
    EMAIL: clinic.provider.binding,
    INVITE_MAILS: aMailWorker({}).bindings.INVITE_MAILS,
  });
  const client = clinic.client.through(counting.fetcher);
  await client.get("/roles");
  const invite = await clinic.invite();
  const create = () => given(client.post("/invites", { organization_invite: anInvite() }));
  const resend = () => given(client.post(`/invites/${invite.id}/resend`, undefined));
  await letAge(invite);
  for (const request of [create, resend]) expect(await counting.during(request)).toBeLessThanOrEqual(2);
  expect(await counting.during(() => given(platform.through(counting.fetcher).get("/invites")))).toBe(1);
});

import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, type Api, api, PLATFORM_TOKEN, platform } from "../support/api.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { aKey, anIdentityProvider } from "../support/identity_provider.ts";
import { accept, acceptToken, tokenOf } from "../support/invites.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aMessage, aQueue, ofBulkInvite, workerWith } from "../support/queue.ts";
import { anEmail, exchange, redeem } from "../support/sign_in.ts";
import { aBucket } from "../support/storage.ts";
import { fromNow } from "../support/time.ts";
import { planVisit, redeem as redeemVisit, tokenOfLink } from "../support/visits.ts";

const KINDS = [
  "token",
  "authorization code",
  "client secret",
  "platform token",
  "email",
  "name of a person",
  "reference",
  "text of a transcript or a note",
  "file",
  "link of a visit",
] as const;

type Kind = (typeof KINDS)[number];

/** Everything in the story that must stay secret, by kind. */
const secrets = new Map<Kind, Set<string>>(KINDS.map((kind) => [kind, new Set()]));

function secret<Text extends string>(kind: Kind, ...texts: Text[]): Text {
  for (const text of texts) {
    if (text.length < 6) throw new Error(`${text} could be found by chance`);
    secrets.get(kind)?.add(text);
  }
  return texts[0] as Text;
}

const lines: string[] = [];

/** The responses to refused token exchanges, by their fault, and the responses to internal errors. */
const refused: Record<string, Answer> = {};
const faults: Record<string, Answer> = {};

const idOf = ({ headers }: Answer) => headers.get("X-Request-Id");

const asText = (value: unknown) =>
  value instanceof Error ? `${value.stack} ${value.message}` : String(JSON.stringify(value) ?? value);

beforeAll(async () => {
  const methods = ["debug", "dir", "error", "info", "log", "table", "trace", "warn"] as const;
  const spies = methods.map((method) =>
    vi.spyOn(console, method).mockImplementation((...said: unknown[]) => {
      lines.push(said.map((value) => (typeof value === "string" ? value : asText(value))).join(" "));
    }),
  );
  try {
    await theStory();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}, 60_000);

async function theStory() {
  const clinic = await anOrganization("Riverside Clinic");
  secret("client secret", clinic.client.credentials["X-Client-Secret"] ?? "");
  secret("platform token", PLATFORM_TOKEN);
  await callWithoutCredentials(clinic);
  await consult(clinic);
  await plan(clinic);
  await invite(clinic);
  await signIn(clinic);
  await sendWhatIsRefused(clinic);
  await meetFaults(clinic);
}

/** A person who must not appear in any line. */
function somebody(first: string, last: string) {
  secret("name of a person", first, last);
  const email = secret("email", `${first}.${last}.${unique("at")}@example.com`);
  return { display_name: `${first} ${last}`, email };
}

async function callWithoutCredentials({ client }: Organization) {
  const wrongSecret = secret("client secret", unique("wrong-secret"));
  const wrongToken = secret("platform token", unique("wrong-token"));
  await api("/api/external", { ...client.credentials, "X-Client-Secret": wrongSecret }).get("/waiting_rooms");
  await api("/api/platform", { Authorization: `Bearer ${wrongToken}` }).get("/waiting_rooms/any");
}

/** A call whose references are in queries and refused bodies, and a recording whose file cannot be deleted at first. */
async function consult(clinic: Organization) {
  const [visit, person] = ["peregrine-visit", "peregrine-1984"].map((each) =>
    secret("reference", unique(each)),
  );
  const recipient = aRecipient({
    display_name: somebody("Ottoline", "Peregrine").display_name,
    external_reference: person,
  });
  const call = await aCall(clinic, { participants: [recipient], external_reference: visit });
  await given(clinic.client.get(`/calls?external_reference=${visit}&participant_reference=${person}`));
  await clinic.client.get(`/calls?from=never&external_reference=${visit}`);
  await clinic.client.put(call.path, { call: { external_reference: `${visit}\n` } });
  const storage_key = `${clinic.slug}/${secret("file", unique("recording-file"))}`;
  const { egress_id } = await call.addEgress({ storage_key });
  const storageThatIsDown = workerWith({ RECORDINGS: aBucket(() => true).binding });
  await clinic.platform.through(storageThatIsDown.fetcher).delete(`/egresses/${egress_id}`);
  const fetching = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error(`Cannot reach ${storage_key}`));
  await workerWith({ RECORDINGS_S3_ENDPOINT: "https://storage.test" }).runCron();
  fetching.mockRestore();
  await workerWith({}).runCron();
}

/** A link of a visit that is forged, and then cancelled. */
async function plan(clinic: Organization) {
  const { slug } = await clinic.addRoom();
  const visit = await planVisit(clinic, slug);
  const token = secret("link of a visit", tokenOfLink(visit));
  keepParts(token, "link of a visit");
  await given(clinic.client.delete(`/visits/${visit.id}`));
  const answers = [await redeemVisit(`${token}x`), await redeemVisit(token)];
  if (answers.map(({ status }) => status).join() !== "404,422") throw new Error("Unexpected statuses");
}

/** A note whose lines look like other lines of a log. */
const aNote = (text: string) => `Subjective:\n    at ${secret("text of a transcript or a note", text)}`;

async function invite({ client, id }: Organization) {
  const hyacinth = anInvite(somebody("Hyacinth", "Bramble"));
  const invited = await given(client.post("/invites", { organization_invite: hyacinth }));
  await client.post("/invites", { organization_invite: hyacinth });
  await given(client.get("/invites"));
  await given(client.get(`/invites/${invited.id}`));
  const token = secret("token", await tokenOf(invited));
  keepParts(token);
  await given(accept(invited));
  await acceptToken(token);
  await acceptToken(secret("token", `${token.slice(0, -8)}AAAAAAAA`));
  await client.delete(`/invites/${invited.id}`);

  const queue = aQueue();
  const well = workerWith({ BULK_INVITES: queue.binding });
  const bulkClient = client.through(well.fetcher);
  const organization_invites = Array.from({ length: 60 }, () =>
    anInvite(somebody("Ignatius", "Thistledown")),
  );
  const bulkInvite = async () =>
    (await given(bulkClient.post("/invites/bulk_create", { organization_invites }))).bulk_invite;
  const bulk_invite = await bulkInvite();
  const wakeUp = aMessage(ofBulkInvite(bulk_invite));
  const poisoned = workerWith({ BULK_INVITES: queue.binding, DB: databaseWithout("invites") });
  await poisoned.consume([wakeUp]);
  await workerWith({ DB: databaseWithout("bulk_invites") }).consume([wakeUp]);
  await well.consume([wakeUp]);
  await well.consume([aMessage({ schema: "unheard-of", email: hyacinth.email })]);
  await given(client.get(`/bulk_invites/${bulk_invite.id}`));
  queue.isDown = true;
  await bulkInvite();
  queue.isDown = false;
  await well.runCron();
  await given(
    platform.post(`/organizations/${id}/users`, {
      user: { ...somebody("Cornelius", "Fairweather"), roles: ["provider"] },
    }),
  );
}

async function signIn(clinic: Organization) {
  const { client, admin } = clinic;
  const provider = await anIdentityProvider();
  await provider.register(clinic);
  const email = secret("email", admin.email as string);
  const pending = await clinic.addInvite(somebody("Persephone", "Lockwood"));
  const aToken = async (...[claims, ...more]: Parameters<typeof provider.token>) =>
    keepParts(
      secret("token", await provider.token({ email, name: "Persephone Lockwood", ...claims }, ...more)),
    );

  const { code } = await given(exchange(client, await aToken({})));
  secret("authorization code", code);
  await given(redeem(code));
  await redeem(code);
  await redeem(secret("authorization code", unique("made-up-code")));

  const over = Math.floor(Date.now() / 1000) - 3600;
  const stolen = await aKey("ES256", provider.key.kid);
  const wrong: Record<string, string> = {
    garbage: secret("token", "garbage.of.Persephone"),
    "unknown issuer": await aToken({ iss: `https://${secret("email", anEmail())}` }),
    "missing issuer": await aToken({ iss: undefined }),
    "wrong audience": await aToken({ aud: [secret("email", anEmail())] }),
    expired: await aToken({ exp: over }),
    "not yet valid": await aToken({ nbf: Math.floor(Date.now() / 1000) + 3600 }),
    "bad signature": await aToken({}, {}, stolen),
    "unknown key": await aToken({}, { kid: secret("email", anEmail()) }),
    "missing email": await aToken({ email: undefined }),
    "unverified email": await aToken({ email_verified: false }),
    stranger: await aToken({ email: secret("email", anEmail()) }),
    "pending invite": await aToken({ email: pending.email }),
  };
  for (const [fault, token] of Object.entries(wrong)) refused[fault] = await exchange(client, token);

  const down = await anIdentityProvider();
  down.answer = () => Response.json({ [secret("email", anEmail())]: true }, { status: 500 });
  await down.register(clinic);
  const lost = keepParts(secret("token", await down.token({ email })));
  refused["provider down"] = await exchange(client, lost);
}

/** The parts of a token must not appear either. */
function keepParts(token: string, kind: Kind = "token") {
  secret(kind, ...token.split(".").filter((part) => part.length > 20));
  return token;
}

async function sendWhatIsRefused({ client, id }: Organization) {
  const { display_name, email } = somebody("Barnabas", "Nightingale");
  const user = { display_name, email, roles: [display_name] };
  await platform.post(`/organizations/${id}/users`, { user });
  await platform.post(`/organizations/${id}/users`, { user: { ...user, email: display_name, roles: [] } });
  await client.post("/invites", {
    organization_invite: { email: display_name, display_name, role_names: [email] },
  });
  await client.post("/invites", `{"organization_invite": {"display_name": "${display_name}"`);
  await client.post("/invites", { organization_invite: { display_name: display_name.repeat(5000) } });
  await client.send("POST", "/invites", display_name, { "Content-Type": `text/${email}` });
  await platform.put(`/waiting_rooms/${unique("no-room")}/participants/${encodeURIComponent(email)}`, {
    participant: { display_name, role: "recipient", waiting_since: display_name },
  });
  await client.get(`/waiting_rooms/${encodeURIComponent(email)}`);
  await client.get(`/${encodeURIComponent(email)}`);
  await client.get(`/waiting_rooms?page=${encodeURIComponent(email)}`);
  await client.send("GET", "/waiting_rooms", undefined, { "X-Request-Id": secret("email", anEmail()) });
  await exchange(client, { token: email });
  await redeem({ code: email });
}

/** D1 as if a migration had lost a table, even in its sessions. */
function databaseWithout(table: string, database: D1Database = env.DB): D1Database {
  const lost = (query: string) => query.replace(new RegExp(`\\b${table}\\b`, "g"), "lost_table");
  return new Proxy(database, {
    get(target, property) {
      if (property === "prepare") return (query: string) => target.prepare(lost(query));
      if (property === "withSession")
        return (start?: string) => databaseWithout(table, target.withSession(start) as unknown as D1Database);
      const value = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function meetFaults(clinic: Organization) {
  const without = (table: string) => workerWith({ DB: databaseWithout(table) }).fetcher;
  const through = <Way extends Pick<Api, "through">>(way: Way, table: string) => way.through(without(table));
  const { client, admin } = clinic;
  const barnaby = somebody("Barnaby", "Featherstone");
  const call = await aCall(clinic);
  const provider = await anIdentityProvider();
  await provider.register(clinic);
  const aToken = async (claims: object) =>
    keepParts(secret("token", await provider.token({ email: admin.email, ...claims })));

  faults["the note of a call"] = await through(platform, "call_texts").put(`${call.url}/soap_note`, {
    soap_note: { text: aNote("Pain at rest"), is_final: true },
  });
  faults["a transcript"] = await through(platform, "call_texts").put(`${call.url}/transcript`, {
    transcript: { summary: aNote("Pain at night"), is_final: true, lines: [] },
  });
  faults["a participant"] = await through(platform, "participants").put(
    `/waiting_rooms/${call.room.slug}/participants/${unique("participant")}`,
    { participant: { display_name: barnaby.display_name, role: "recipient", waiting_since: fromNow(0) } },
  );
  faults["a user"] = await through(platform, "organization_users").post(`/organizations/${clinic.id}/users`, {
    user: { ...barnaby, roles: ["provider"] },
  });
  faults["an invite"] = await through(client, "invites").post("/invites", {
    organization_invite: anInvite(barnaby),
  });
  faults["a bulk invite"] = await through(client, "bulk_invite_rows").post("/invites/bulk_create", {
    organization_invites: [anInvite(barnaby)],
  });
  faults["a token"] = await exchange(through(client, "authorization_codes"), await aToken({}));
  faults["a token's issuer"] = await exchange(
    through(client, "issuers"),
    await aToken({ iss: `https://idp.test\n    at ${secret("email", anEmail())}` }),
  );
  faults["a code"] = await through(platform, "authorization_codes").post("/authorization_codes/redeem", {
    code: secret("authorization code", unique("lost-code")),
  });
  faults["a client"] = await through(await aClientUnseen(clinic), "api_clients").get("/waiting_rooms");
}

/** A client that the service has not looked up yet. */
async function aClientUnseen({ addClient, admin }: Organization) {
  const client = await addClient(admin.id);
  secret("client secret", client.credentials["X-Client-Secret"] ?? "");
  return client;
}

const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

const linesOf = (answer: Answer) => parsed().filter(({ request_id }) => request_id === idOf(answer));

describe("The log of a whole journey", () => {
  it.each(KINDS)("contains no %s", (kind) => {
    const told = [...(secrets.get(kind) ?? [])];
    expect(told).not.toEqual([]);
    const forms = told.flatMap((text) => [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]);
    const telling = lines.filter((line) =>
      forms.some((form) => line.toLowerCase().includes(form.toLowerCase())),
    );
    expect(telling).toEqual([]);
  });

  it("is one JSON object per line, each with its event", () => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of parsed()) expect(line).toMatchObject({ event: expect.stringMatching(/^[a-z_]+$/) });
    for (const line of lines) expect(line).not.toContain("\n");
  });

  it("has a reason of its own for each refused exchange, which the responses do not show", () => {
    const reasons = Object.entries(refused).map(([fault, answer]) => {
      const { status, body } = answer;
      expect(status, fault).toBe(fault === "provider down" ? 503 : 401);
      expect(body.error).toMatch(/^(Invalid token|Please accept your invite|Identity provider unavailable)$/);
      const line = linesOf(answer).find(({ event }) => event === "refused");
      expect(line, fault).toMatchObject({ status, reason: expect.stringMatching(/^\w+$/) });
      return line?.reason;
    });
    expect(new Set(reasons).size).toBe(13);
  });

  it("has the cause of each internal error under the request id of the response, which does not show it", () => {
    expect(Object.keys(faults)).toHaveLength(10);
    for (const [where, answer] of Object.entries(faults)) {
      expect(answer, where).toMatchObject({ status: 500, body: { error: "Internal server error" } });
      expect(JSON.stringify(linesOf(answer)), where).toMatch(/"fault".*no such table: \w*lost_table/);
    }
  });

  it("has unknown messages of the queue and failed file deletions", () => {
    const events = parsed().map(({ event }) => event);
    expect(events).toContain("message_unknown");
    expect(events).toContain("file_deletion_failed");
  });
});

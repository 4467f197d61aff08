import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { entriesAbout, entriesOfRequest, withoutEntries } from "../support/access_logs.ts";
import { type Answer, platform } from "../support/api.ts";
import { atOnce } from "../support/at_once.ts";
import { aCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { externalExamples, platformExamples } from "../support/routes.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aPlan } from "../support/visits.ts";

/** The entry that each recorded request leaves in the access log. Requests that are not listed leave none. */
const RECORDED: Record<string, Record<string, string>> = {
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": "read transcript",
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": "read soap_note",
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": "read egress",
    "GET /egresses": "read egress",
    "GET /organization_users/:organization_user_id/calls/:call_id/participants": "read participant",
    "GET /organization_users/:organization_user_id/calls/:call_id/consents": "read consent",
    "GET /waiting_rooms/:slug/participants": "read waiting_room",
    "GET /access_logs": "read access_log",
    "GET /access_logs/:date": "read access_log",
    "PUT /organization_users/:organization_user_id/calls/:call_id": "update call",
    "PUT /organization_users/:organization_user_id/calls/:call_id/participants/:participant_id":
      "update participant",
    "PUT /organization_users/:organization_user_id/calls/:call_id/transcript": "update transcript",
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript/versions": "read transcript",
    "PUT /organization_users/:organization_user_id/calls/:call_id/soap_note": "update soap_note",
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note/versions": "read soap_note",
    "GET /visits": "read visit",
    "POST /visits": "create visit",
    "GET /visits/:id": "read visit",
    "PUT /visits/:id": "update visit",
    "DELETE /visits/:id": "delete visit",
    "PUT /organization_users/:id": "update organization_user",
    "PUT /organization": "update organization",
    "DELETE /organization_users/:id": "delete organization_user",
    "DELETE /organization_users/:organization_user_id/calls/:call_id/transcript": "delete transcript",
    "DELETE /organization_users/:organization_user_id/calls/:call_id/soap_note": "delete soap_note",
    "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id": "delete egress",
    "DELETE /participants": "delete participant",
    "GET /participants/export": "read participant",
    "PUT /organization_users/:organization_user_id/calls/:call_id/legal_hold": "create legal_hold",
    "DELETE /organization_users/:organization_user_id/calls/:call_id/legal_hold": "delete legal_hold",
    "POST /api_clients": "create api_client",
    "DELETE /api_clients/:id": "delete api_client",
    "POST /auth/token_exchange": "sign_in organization_user",
    "POST /invites": "create invite",
    "POST /invites/:id/resend": "update invite",
    "DELETE /invites/:id": "delete invite",
    "POST /invites/bulk_create": "create invite",
    "POST /webhook_endpoints": "create webhook_endpoint",
    "PUT /webhook_endpoints/:id": "update webhook_endpoint",
    "DELETE /webhook_endpoints/:id": "delete webhook_endpoint",
    "POST /webhook_endpoints/:id/rotate_secret": "update webhook_endpoint",
  },
  platform: {
    "POST /organizations": "create organization",
    "PUT /organizations/:organization_id": "update organization",
    "POST /organizations/:organization_id/users": "create organization_user",
    "PUT /organizations/:organization_id/users/:organization_user_id": "update organization_user",
    "DELETE /organizations/:organization_id/users/:organization_user_id": "delete organization_user",
    "POST /organizations/:organization_id/api_clients": "create api_client",
    "DELETE /organizations/:organization_id/api_clients/:id": "delete api_client",
    "POST /organizations/:organization_id/issuers": "create issuer",
    "DELETE /organizations/:organization_id/issuers/:id": "delete issuer",
    "PUT /organizations/:organization_id/calls/:key/legal_hold": "create legal_hold",
    "DELETE /organizations/:organization_id/calls/:key/legal_hold": "delete legal_hold",
    "DELETE /organizations/:organization_id/calls/:key/transcript": "delete transcript",
    "DELETE /organizations/:organization_id/calls/:key/soap_note": "delete soap_note",
    "DELETE /organizations/:organization_id/egresses/:egress_id": "delete egress",
    "POST /invites/accept": "create organization_user",
  },
};

/** Lists whose entries name whom they showed. */
const SHOWING_NAMES = [
  "GET /visits",
  "GET /waiting_rooms/:slug/participants",
  "GET /organization_users/:organization_user_id/calls/:call_id/participants",
];

const recordedReads = Object.entries(RECORDED.external ?? {}).filter(([route]) => route.startsWith("GET "));

async function send(api: "external" | "platform", route: string, clinic: Organization) {
  const example = (api === "external" ? externalExamples : platformExamples)[route];
  const [method = ""] = route.split(" ");
  const { path, body } = (await example?.(clinic)) ?? { path: "" };
  return () => (api === "external" ? clinic.client : platform).send(method, path, body);
}

describe.each(["external", "platform"] as const)("The access log, for requests to the %s API", (api) => {
  const routes = Object.keys(api === "external" ? externalExamples : platformExamples);

  it.each(routes)(
    "%s leaves the expected entry with ids only, and changes nothing if the entry cannot be stored",
    async (route) => {
      const clinic = await anOrganization();
      const request = await send(api, route, clinic);
      const wanted = RECORDED[api]?.[route];
      // The identity provider's token would expire in the meantime: sign_in_entries.test.ts covers this route.
      if (wanted && route !== "POST /auth/token_exchange") await expectFaultWithoutEntry(request);
      const answer = await request();
      expect(answer.status).toBeLessThan(300);
      const entries = await entriesOfRequest(answer);
      expect(entries.map(({ event, resource }) => `${event} ${resource}`)).toEqual(wanted ? [wanted] : []);
      for (const { event, resource, request_id, acting_user, purpose, shown, ...ids } of entries) {
        expect([acting_user, purpose]).toEqual([null, null]);
        expect(shown !== null).toBe(SHOWING_NAMES.includes(route));
        for (const id of [...Object.values(ids), ...(shown ?? [])])
          expect(id === null || Number.isSafeInteger(id)).toBe(true);
        const caller =
          api === "external"
            ? { user_id: clinic.admin.user_id, api_client_id: clinic.client.id }
            : { user_id: SYSTEM_USER_ID, api_client_id: null };
        expect(ids).toMatchObject(caller);
        expect(Math.abs(ids.at - Date.now())).toBeLessThan(60_000);
        if (route !== "POST /organizations") expect(ids.organization_id).toBe(clinic.id);
      }
    },
  );
});

async function expectFaultWithoutEntry(request: () => Promise<Answer>) {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => logged.mockRestore());
  const refused = await changingNothing(() => withoutEntries(request));
  expectRefusal(refused, 500, "Internal server error");
  expect(logged).toHaveBeenCalledOnce();
}

const ENDPOINT = { url: "https://receiver.example.com/hook" };

describe("An access log entry", () => {
  it("names the recording that was read; for a list, it names only the call", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const { id } = await call.addEgress();
    const about = { call_id: call.id, organization_user_id: call.owner.id };
    const one = await clinic.client.get(`${call.path}/egresses/${id}`);
    expect(await entriesOfRequest(one)).toMatchObject([{ resource: "egress", resource_id: id, ...about }]);
    for (const list of ["participants", "consents"]) {
      const read = await clinic.client.get(`${call.path}/${list}`);
      expect(await entriesOfRequest(read)).toMatchObject([{ resource_id: null, ...about }]);
    }
  });

  it("names the organization user it is about", async () => {
    const clinic = await anOrganization();
    const path = `/organizations/${clinic.id}/users`;
    const user = { email: `${unique("user")}@example.com`, display_name: "Pia", roles: ["provider"] };
    const created = await platform.post(path, { user });
    const { id } = created.body;
    const concerned = [{ resource_id: id, organization_user_id: id }];
    expect(await entriesOfRequest(created)).toMatchObject(concerned);
    const renamed = await platform.put(`${path}/${id}`, { user: { display_name: "Pia Pohl" } });
    expect(await entriesOfRequest(renamed)).toMatchObject(concerned);
    const organization_user = { display_name: "Pia Paul" };
    const changed = await clinic.client.put(`/organization_users/${id}`, { organization_user });
    expect(await entriesOfRequest(changed)).toMatchObject(concerned);
    const client = await clinic.addClient(id);
    expect((await entriesAbout(clinic, "create", "api_client")).at(-1)).toMatchObject({
      resource_id: client.id,
      organization_user_id: id,
    });
    expect(await entriesOfRequest(await platform.delete(`${path}/${id}`))).toMatchObject(concerned);
  });

  it("is written once per request, even if the request has side effects", async () => {
    const clinic = await anOrganization();
    const second = await clinic.addUser("Ann Admin", ["organization_admin"]);
    const client = await clinic.addClient(second.id);
    await given(client.post("/invites", { organization_invite: anInvite() }));
    await given(client.post("/webhook_endpoints", { webhook_endpoint: ENDPOINT }));
    const before = await allEntries(clinic);
    await given(platform.delete(`/organizations/${clinic.id}/users/${second.id}`));
    expect(await allEntries(clinic)).toBe(before + 1);
  });

  it("cannot be deleted before its day is sealed, once the organization has sealed days", async () => {
    const clinic = await anOrganization();
    const last = await env.DB.prepare("select max(id) as id from access_logs where organization_id = ?")
      .bind(clinic.id)
      .first<number>("id");
    await env.DB.prepare(
      `insert into access_log_seals (organization_id, date, count, first_id, last_id, sha256, jws, jws_sha256, created_at)
       values (?, '2026-01-31', 1, 1, ?, '', '', '', 0)`,
    )
      .bind(clinic.id, (last ?? 0) - 1)
      .run();
    const remove = (id: number) => env.DB.prepare("delete from access_logs where id = ?").bind(id).run();
    await expect(remove(last ?? 0)).rejects.toThrow("kept until their day is sealed");
    await remove((last ?? 0) - 1);
  });
});

const allEntries = async (clinic: Organization) => (await storedRows(clinic, "access_logs")).length;

describe("The access log has no entry", () => {
  it.each(recordedReads.filter(([route]) => route.includes(":")))("for a 404: %s", async (route) => {
    const clinic = await anOrganization();
    const other = await anOrganization();
    const { path } = (await externalExamples[route]?.(other)) ?? { path: "" };
    expect((await changingNothing(() => clinic.client.get(path))).status).toBe(404);
  });

  it("for a change that changes nothing", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "visit-1" });
    const provider = await clinic.addProvider("Paula");
    await given(call.hold({ reason: "A complaint" }));
    const endpoint = await given(clinic.client.post("/webhook_endpoints", { webhook_endpoint: ENDPOINT }));
    const before = await allEntries(clinic);
    await given(clinic.client.put(call.path, { call: { external_reference: "visit-1" } }));
    await given(call.hold({ reason: "A complaint" }));
    await given(clinic.platform.put("", { organization: { name: clinic.name } }));
    const user = { display_name: "Paula", roles: ["provider"] };
    await given(clinic.platform.put(`/users/${provider.id}`, { user }));
    await given(clinic.client.put(`/webhook_endpoints/${endpoint.id}`, { webhook_endpoint: ENDPOINT }));
    await given(call.release());
    await given(clinic.platform.delete(`/calls/${call.key}/transcript`));
    const ended = await allEntries(clinic);
    await given(call.release());
    expect(await allEntries(clinic)).toBe(ended);
    expect(ended).toBe(before + 1);
  });
});

it("A legal hold set by a call report leaves create, update and delete entries like any other", async () => {
  const clinic = await anOrganization();
  const call = await aCall(clinic, { legal_hold: true });
  await given(call.report({ legal_hold: true }));
  const [created, ...more] = await entriesAbout(clinic, "create", "legal_hold");
  expect(more).toEqual([]);
  expect(created).toMatchObject({ call_id: call.id, organization_user_id: call.owner.id });
  const subject = { ...created, at: expect.any(Number), request_id: expect.any(String) };
  expect(await entriesOfRequest(await call.hold({ reason: "A complaint" }))).toMatchObject([
    { ...subject, event: "update" },
  ]);
  expect(await entriesOfRequest(await call.release())).toMatchObject([{ ...subject, event: "delete" }]);
});

it("The retention chores leave one entry for each deletion or erasure, in the name of the System user", async () => {
  const clinic = await anOrganization();
  const days = { recording_retention_days: 1, transcript_retention_days: 1, participant_retention_days: 1 };
  const times = { started_at: fromNow(-72 * 60 - 30), ended_at: fromNow(-72 * 60) };
  const call = await aCall(clinic, times);
  const lonely = await aCall(clinic, { ...times, external_reference: "visit-2", participants: [] });
  const egress = await call.addEgress();
  await given(call.reportTranscript({ is_final: true, lines: [] }));
  await given(call.reportSoapNote({ text: "Well.", is_final: true }));
  const { participants } = await given(clinic.client.get(`${call.path}/participants`));
  await given(clinic.platform.put("", { organization: days }));
  await workerWith({}).runCron();
  const about = {
    call_id: call.id,
    organization_user_id: call.owner.id,
    user_id: SYSTEM_USER_ID,
    api_client_id: null,
    request_id: null,
  };
  const deleted = { transcript: call.id, soap_note: call.id, egress: egress.id };
  for (const [resource, resource_id] of Object.entries(deleted))
    expect(await entriesAbout(clinic, "delete", resource)).toMatchObject([{ ...about, resource_id }]);
  expect(await entriesAbout(clinic, "delete", "participant")).toMatchObject(
    participants.map(({ id }: { id: number }) => ({ ...about, resource_id: id })),
  );
  expect(await entriesAbout(clinic, "update", "call")).toMatchObject([
    { ...about, resource_id: lonely.id, call_id: lonely.id, organization_user_id: lonely.owner.id },
  ]);
  const before = await allEntries(clinic);
  await workerWith({}).runCron();
  expect(await allEntries(clinic)).toBe(before);
});

describe("GET /waiting_rooms/{slug}/participants, polled", () => {
  it("is recorded once a minute per client, acting user, purpose and room", async () => {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider();
    const { id, slug } = await clinic.addRoom();
    const second = await clinic.addClient(clinic.admin.id);
    const poll = (
      client: Pick<typeof clinic.client, "send">,
      room: string,
      actor = "staff-1",
      why = "TREAT",
    ) =>
      client.send("GET", `/waiting_rooms/${room}/participants`, undefined, {
        "X-Acting-User": actor,
        "X-Purpose-Of-Use": why,
      });
    const polls: [Parameters<typeof poll>, number][] = [
      [[clinic.client, slug], 1],
      [[clinic.client, slug], 0],
      [[clinic.client, slug, "staff-2"], 1],
      [[clinic.client, slug, "staff-2", "BTG"], 1],
      [[second, slug], 1],
      [[clinic.client, provider.waiting_room_slug], 1],
      [[clinic.client, slug], 0],
    ];
    travelTo("2026-11-20T10:00:00Z");
    for (const [how, entries] of polls)
      expect(await entriesOfRequest(await poll(...how))).toHaveLength(entries);
    travelTo("2026-11-20T10:00:59Z");
    expect(await entriesOfRequest(await poll(clinic.client, slug))).toEqual([]);
    travelTo("2026-11-20T10:01:00Z");
    expect(await entriesOfRequest(await poll(clinic.client, slug))).toMatchObject([
      { resource: "waiting_room", resource_id: id, call_id: null, organization_user_id: null },
    ]);
    travelTo("2026-11-20T10:02:00Z");
    expect(await entriesOfRequest(await poll(clinic.client, provider.waiting_room_slug))).toMatchObject([
      { organization_user_id: provider.id },
    ]);
  });

  it("is recorded once for thirty requests at once", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    await atOnce(30, () => given(clinic.client.get(`/waiting_rooms/${slug}/participants`)));
    expect(await entriesAbout(clinic, "read", "waiting_room")).toHaveLength(1);
  });
});

describe("X-Acting-User and X-Purpose-Of-Use", () => {
  it("are validated on every request of a client", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    for (const [name, value, text] of [
      ...["", "x".repeat(65), "J\u00fcrgen"].map((id) => ["X-Acting-User", id, "1 to 64 printable"] as const),
      ...["CURIOSITY", ""].map((purpose) => ["X-Purpose-Of-Use", purpose, "one of TREAT, "] as const),
    ])
      for (const [method, path, body] of [
        ["GET", "/roles"],
        ["GET", `/waiting_rooms/${slug}`],
        ["POST", "/waiting_rooms", "not JSON"],
        ["DELETE", `/waiting_rooms/${slug}`],
      ] as const) {
        const send = () => clinic.client.send(method, path, body, { [name]: value });
        expectRefusal(await changingNothing(send), 400, new RegExp(`^${name}: must be ${text}`));
      }
  });

  it("are checked after the credentials and the route, before ids in the path, and not by the platform API", async () => {
    const clinic = await anOrganization();
    const bad = { "X-Purpose-Of-Use": "CURIOSITY" };
    const wrong = await clinic.client.send("GET", "/roles", undefined, {
      ...bad,
      "X-Client-Secret": "wrong",
    });
    expectRefusal(wrong, 401);
    expectRefusal(await clinic.client.send("GET", "/nowhere", undefined, bad), 404);
    for (const path of ["/invites/x", "/organization_users/0/calls/1/transcript"])
      expectRefusal(await clinic.client.send("GET", path, undefined, bad), 400, /^X-Purpose-Of-Use: must be/);
    expect((await platform.send("GET", "/organizations", undefined, bad)).status).toBe(200);
  });
});

describe("An organization with require_acting_user", () => {
  async function aStrictClinic() {
    const clinic = await anOrganization();
    await given(clinic.platform.put("", { organization: { require_acting_user: true } }));
    return clinic;
  }

  const both = { "X-Acting-User": "staff-1", "X-Purpose-Of-Use": "TREAT" };

  it("refuses before looking up the resource, and refuses no other requests", async () => {
    const clinic = await aStrictClinic();
    const nothing = "/organization_users/999999/calls/999999/transcript";
    const text = /^X-Acting-User and X-Purpose-Of-Use: are required/;
    const [actor, purpose] = [{ "X-Acting-User": "staff-1" }, { "X-Purpose-Of-Use": "TREAT" }];
    const lacking: Record<string, string>[] = [{}, actor, purpose];
    for (const headers of lacking)
      expectRefusal(await clinic.client.send("GET", nothing, undefined, headers), 400, text);
    expectRefusal(await clinic.client.send("GET", nothing, undefined, both), 404);
    expect((await clinic.client.get("/calls")).status).toBe(200);
    for (const empty of ["participant_reference=", "participant_reference"])
      expectRefusal(await clinic.client.get(`/calls?${empty}&participant_reference=patient-1`), 400, text);
    const visit = aPlan((await clinic.addRoom()).slug);
    expect((await clinic.client.post("/visits", { visit })).status).toBe(201);
    // Repeated with its key, the request would be a read.
    const plan = (headers: object) =>
      clinic.client.send("POST", "/visits", { visit }, { "Idempotency-Key": "1", ...headers });
    expectRefusal(await plan({}), 400, text);
    expect((await plan(both)).status).toBe(201);
  });

  it("also refuses a client that is already cached, within 60 seconds", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await given(clinic.client.get(`${call.path}/participants`));
    await given(clinic.platform.put("", { organization: { require_acting_user: true } }));
    travelTo(fromNow(1));
    expectRefusal(await clinic.client.get(`${call.path}/participants`), 400);
  });
});

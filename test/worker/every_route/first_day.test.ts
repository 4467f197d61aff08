import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, minutesAfterStart, reportCall, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithSignIn, anEmail, expectRefused, signIn } from "../support/sign_in.ts";
import { fromNow } from "../support/time.ts";
import { aCallToTranscribe, says } from "../support/transcripts.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aPlan } from "../support/visits.ts";

/* Small traps that integrators meet on their first day. */

describe("start_time and end_time in PUT …/transcript", () => {
  it("are rounded to the millisecond before they are compared, so that lines can touch", async () => {
    const { call, paula, rita } = await aCallToTranscribe();
    const lines = [says(paula, 0.1, 0.1 + 0.2), says(rita, 0.3, 0.4), says(paula, 0.4004, 1.23456)];
    const { transcript_lines } = await given(call.reportTranscript({ is_final: false, lines }));
    const times = transcript_lines.map(({ start_time, end_time }: Record<string, number>) => [
      start_time,
      end_time,
    ]);
    expect(times).toEqual([
      [0.1, 0.3],
      [0.3, 0.4],
      [0.4, 1.235],
    ]);
  });
});

describe("An error about an element of a list names", () => {
  it("a transcript line that overlaps, ends early or has an unknown speaker, by its place in the request", async () => {
    const { call, paula } = await aCallToTranscribe();
    const many = Array.from({ length: 300 }, (_, n) => says(paula, n, n + 1));
    const report = (lines: object[]) =>
      changingNothing(() => call.reportTranscript({ is_final: false, lines }));
    const overlapping = many.with(250, says(paula, 249.5, 251)).reverse();
    expectRefusal(
      await report(overlapping),
      422,
      /^transcript\.lines\.49: begins before the previous line ends$/,
    );
    const strange = [...many.with(12, says({ key: "nobody" }, 12, 13))].reverse();
    expectRefusal(await report(strange), 422, /^transcript\.lines\.287\.participant_key: is not on the call/);
    expectRefusal(await report(many.with(7, says(paula, 8, 7))), 422, /^transcript\.lines\.7\.end_time: /);
  });

  it("a corrected line that is unknown or repeated", async () => {
    const { clinic, call, paula } = await aCallToTranscribe();
    const lines = [says(paula, 0, 1), says(paula, 1, 2)];
    const { transcript_lines } = await given(call.reportTranscript({ summary: "", is_final: true, lines }));
    const [{ id }] = transcript_lines;
    const correct = (ids: number[]) =>
      clinic.client.put(`${call.path}/transcript`, {
        transcript: { lines: ids.map((id) => ({ id, text: "Good evening." })), reason: "Misheard" },
      });
    expectRefusal(await correct([id, id]), 422, /^transcript\.lines\.1\.id: names an earlier line again$/);
    expectRefusal(await correct([id, 999_999_999]), 422, /^transcript\.lines\.1\.id: the transcript has no/);
  });

  it("a participant of a call", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    const elsewhere = await aCall(clinic);
    const [paula] = call.participants;
    const rita = aRecipient();
    const report = (participants: object[]) => changingNothing(() => call.report({ participants }));
    const [there] = elsewhere.participants;
    for (const [second, fault] of [
      [{ ...rita, key: paula.key }, /^call\.participants\.1\.key: names an earlier participant again$/],
      [{ ...rita, user_id: 999_999_999 }, /^call\.participants\.1\.user_id: must be the user_id of/],
      [{ key: unique("participant"), role: "recipient" }, /^call\.participants\.1: display_name and role/],
      [there, /^call\.participants\.1\.key: is on another call/],
      [
        { ...rita, joined_at: minutesAfterStart(9), left_at: minutesAfterStart(8) },
        /^call\.participants\.1\.left_at: must not be before joined_at/,
      ],
    ] as const)
      expectRefusal(await report([paula, second]), 422, fault);
  });

  it("a participant of a visit", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const rita = { role: "recipient", display_name: "Rita Recipient" };
    const visit = await given(clinic.client.post("/visits", { visit: aPlan(slug) }));
    const change = (participants: object[]) =>
      changingNothing(() => clinic.client.put(`/visits/${visit.id}`, { visit: { participants } }));
    const [{ id }] = visit.participants;
    for (const [second, fault] of [
      [
        { ...rita, user_id: 999_999_999 },
        /^visit\.participants\.1\.user_id: must be the user_id of a user who/,
      ],
      [{ ...rita, id: 999 }, /^visit\.participants\.1\.id: must be the id of a participant of the visit/],
      [
        { ...rita, id },
        /^visit\.participants\.1\.id: must be the id of a participant of the visit, not repeated/,
      ],
      [{ display_name: "Robin" }, /^visit\.participants\.1: display_name and role are required/],
      [{ ...rita, role: "provider" }, /^visit\.participants\.1\.user_id: is required for a provider$/],
    ] as const)
      expectRefusal(await change([{ id }, second]), 422, fault);
  });

  it("an assisted provider", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const assistant = await clinic.addUser("Olga Other", ["provider_assistant"]);
    const assists = [paula.id, assistant.id];
    const changed = await clinic.client.put(`/organization_users/${assistant.id}`, {
      organization_user: { assists },
    });
    expectRefusal(changed, 422, /^organization_user\.assists\.1: must be a provider/);
  });
});

describe("A PUT that changes only the start", () => {
  const at = (hour: string, day = "31") => `2027-01-${day}T${hour}:00:00.000Z`;

  it("keeps the duration of a visit", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const { id } = await given(
      clinic.client.post("/visits", { visit: aPlan(slug, { starts_at: at("13") }) }),
    );
    const change = (visit: object) => given(clinic.client.put(`/visits/${id}`, { visit }));
    for (const [starts_at, ends_at] of [
      [at("03"), at("04")],
      [at("13", "30"), at("14", "30")],
      [at("03", "29"), at("04", "29")],
    ])
      expect(await change({ starts_at })).toMatchObject({ starts_at, ends_at });
    const [starts_at, ends_at] = [at("03", "29"), at("05", "29")];
    expect(await change({ ends_at })).toMatchObject({ starts_at, ends_at });
    expect(await change({ starts_at: at("13") })).toMatchObject({ ends_at: at("15") });
  });

  it("reports errors about a visit only for times that were sent", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const visit = await given(clinic.client.post("/visits", { visit: aPlan(slug) }));
    for (const starts_at of ["2001-01-01T09:00:00Z", "2990-01-01T09:00:00Z"]) {
      expectRefusal(
        await clinic.client.put(`/visits/${visit.id}`, { visit: { starts_at } }),
        422,
        /^visit\.starts_at: /,
      );
      expectRefusal(
        await clinic.client.post("/visits", { visit: aPlan(slug, { starts_at }) }),
        422,
        /^visit\.starts_at: /,
      );
    }
  });

  it("keeps the duration of a sub, even its default duration", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const { user_id } = await clinic.addProvider();
    const sub = await clinic.addSub(slug, { user_id, datetime_start: at("10", "20") });
    const path = `/waiting_rooms/${slug}/waiting_room_subs/${sub.id}`;
    const change = (waiting_room_sub: object) => given(clinic.client.put(path, { waiting_room_sub }));
    expect(await change({ datetime_start: at("10", "19") })).toMatchObject({ datetime_end: at("10", "20") });
    await change({ datetime_end: at("11", "19") });
    expect(await change({ datetime_start: at("10", "25") })).toMatchObject({ datetime_end: at("11", "25") });
  });

  it("reports an error about an ended call for the time that was sent", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const late = await call.report({ started_at: minutesAfterStart(40) });
    expectRefusal(late, 422, /^call\.started_at: must not be after ended_at$/);
  });
});

describe("A required text", () => {
  it.each([
    ["a zero width space", "\u200b"],
    ["a Hangul filler", "\u3164"],
    ["the other fillers and marks", " \u115f\u1160\u2800\uffa0\u2060\u00ad\ufeff\u200e "],
  ])("counts as blank if it contains only %s", async (_, blank) => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const call = await aCall(clinic);
    const { client } = clinic;
    for (const [answer, field] of [
      [client.post("/waiting_rooms", { waiting_room: { name: blank } }), "waiting_room.name"],
      [client.put(`/waiting_rooms/${slug}`, { waiting_room: { theme: blank } }), "waiting_room.theme"],
      [clinic.platform.put("", { organization: { name: blank } }), "organization.name"],
      [
        client.post("/invites", { organization_invite: anInvite({ display_name: blank }) }),
        "organization_invite.display_name",
      ],
      [call.reportSoapNote({ text: blank, is_final: false }), "soap_note.text"],
      [call.report({ external_reference: blank }), "call.external_reference"],
    ] as const)
      expectRefusal(await answer, 422, `${field}: must not be blank`);
    const named = `${blank}Übung${blank}`;
    expect((await client.post("/waiting_rooms", { waiting_room: { name: named } })).status).toBe(201);
  });
});

describe("A name", () => {
  it.each(["\u202a", "\u202e", "\u2066", "\u2069"])(
    "is refused with %j, which changes the direction of text",
    async (mark) => {
      const clinic = await anOrganization();
      const { slug } = await clinic.addRoom();
      const named = (name: string) => `${name} ${mark}cod.exe`;
      const fault =
        "must not have characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069)";
      const { client } = clinic;
      const display_name = named("Rita");
      for (const [answer, field] of [
        [client.post("/waiting_rooms", { waiting_room: { name: named("Heart") } }), "waiting_room.name"],
        [client.put("/organization", { organization: { name: named("Clinic") } }), "organization.name"],
        [
          client.post("/invites", { organization_invite: anInvite({ display_name }) }),
          "organization_invite.display_name",
        ],
        [
          platform.put(`/waiting_rooms/${slug}/participants/rita`, {
            participant: { display_name, role: "recipient", waiting_since: fromNow(0) },
          }),
          "participant.display_name",
        ],
      ] as const)
        expectRefusal(await answer, 422, `${field}: ${fault}`);
      const marked = { waiting_room: { name: "\u05d0\u200f x" } };
      expect((await client.post("/waiting_rooms", marked)).status).toBe(201);
    },
  );
});

describe("A PUT that asks for an impossible change", () => {
  it("is refused for another slug of an organization, but accepted for its own slug", async () => {
    const clinic = await anOrganization();
    const put = (slug: string) => ({ organization: { name: "Lakeside Clinic", slug } });
    for (const send of [
      (slug: string) => clinic.platform.put("", put(slug)),
      (slug: string) => clinic.client.put("/organization", put(slug)),
    ]) {
      const refused = await changingNothing(() => send(unique("other")));
      expectRefusal(refused, 422, /^organization\.slug: cannot be changed/);
      expect(await send(clinic.slug)).toMatchObject({ status: 200, body: { name: "Lakeside Clinic" } });
    }
  });

  it("is refused for another organization of a room or a user, but accepted for the values that were read", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const room = await clinic.addRoom();
    const user = await clinic.addProvider();
    const { slug: _, ...fields } = room;
    const update = (more: object) =>
      clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { ...fields, ...more } });
    expectRefusal(
      await update({ organization_id: other.id }),
      422,
      /^waiting_room\.organization_id: cannot be/,
    );
    expectRefusal(await update({ user_id: user.id }), 422, /^waiting_room\.user_id: cannot be changed/);
    expect((await update({})).status).toBe(200);
    const change = (more: object) => clinic.platform.put(`/users/${user.id}`, { user: { ...user, ...more } });
    expectRefusal(await change({ organization_id: other.id }), 422, /^user\.organization_id: cannot be/);
    expect((await change({})).status).toBe(200);
  });

  it("is refused for another status or room of a visit, with the right way to change it", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const { id: other } = await clinic.addRoom({ name: "Lungs" });
    const visit = await given(clinic.client.post("/visits", { visit: aPlan(slug) }));
    const change = (more: object) =>
      clinic.client.put(`/visits/${visit.id}`, { visit: { ...visit, ...more } });
    expectRefusal(await change({ status: "cancelled" }), 422, /^visit\.status: .*DELETE/);
    expectRefusal(
      await change({ waiting_room_id: other }),
      422,
      /^visit\.waiting_room_id: .*waiting_room_slug/,
    );
    expect(await change({})).toMatchObject({ status: 200, body: { updated_at: visit.updated_at } });
  });

  it("is accepted if the field is unknown", async () => {
    const clinic = await anOrganization();
    const put = await clinic.platform.put("", { organization: { colour: "red", name: "Lakeside Clinic" } });
    expect(put.status).toBe(200);
  });
});

describe("An empty summary", () => {
  it("is accepted in reports and corrections, and counts as no summary", async () => {
    const { clinic, call, paula, read } = await aCallToTranscribe();
    const lines = [says(paula, 0, 1)];
    expect((await given(call.reportTranscript({ summary: "", is_final: true, lines }))).summary).toBe("");
    await given(call.reportTranscript({ summary: "A greeting." }));
    expect((await given(call.reportTranscript({ summary: "" }))).summary).toBe("A greeting.");
    const corrected = await clinic.client.put(`${call.path}/transcript`, {
      transcript: { summary: "", reason: "Not of this call" },
    });
    expect(corrected).toMatchObject({ status: 200, body: { summary: "" } });
    expect((await read()).body.summary).toBe("");
  });
});

describe("The first PUT …/calls/{key} of an ended call", () => {
  it("may name the room by a former slug, and may name a retired room", async () => {
    const clinic = await anOrganization();
    const { id: organization_user_id } = await clinic.addProvider();
    const room = await clinic.addRoom();
    await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: "Heart Centre" } }));
    const lungs = await clinic.addRoom({ name: "Lungs" });
    await given(clinic.client.delete(`/waiting_rooms/${lungs.slug}`));
    for (const { id, slug } of [room, lungs]) {
      const reported = await reportCall(clinic, unique("call"), {
        waiting_room_slug: slug,
        organization_user_id,
        started_at: STARTED_AT,
        ended_at: minutesAfterStart(20),
      });
      expect(reported).toMatchObject({ status: 200, body: { waiting_room_id: id } });
    }
    const other = await anOrganization();
    const theirs = await other.addRoom();
    const stranger = { waiting_room_slug: theirs.slug, organization_user_id, started_at: STARTED_AT };
    expectRefusal(await reportCall(clinic, unique("call"), stranger), 422, /^call\.waiting_room_slug: /);
  });
});

describe("Changing a member's email", () => {
  const send = {
    "the platform": (clinic: Organization, id: number, email: string) =>
      clinic.platform.put(`/users/${id}`, { user: { email } }),
    "an administrator": (clinic: Organization, id: number, email: string) =>
      clinic.client.put(`/organization_users/${id}`, { organization_user: { email } }),
  };

  it.each(Object.entries(send))("works through %s, and sign-in needs the new email", async (_, change) => {
    const { clinic, client, provider } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const email = anEmail();
    const invite = await clinic.addInvite({ email });
    expect(await change(clinic, paula.id, ` ${email.toUpperCase()} `)).toMatchObject({
      status: 200,
      body: { email },
    });
    const { organization_user } = await signIn(client, await provider.token({ email }));
    expect(organization_user.id).toBe(paula.id);
    await expectRefused(client, await provider.token({ email: paula.email }));
    expectRefusal(await client.get(`/invites/${invite.id}`), 404);
    const { events } = await given(client.get("/events?type=organization_user.updated"));
    expect(events.map(({ data }: { data: object }) => data)).toEqual([{ organization_user_id: paula.id }]);
    const log = await given(client.get("/access_logs?resource=organization_user&event=update"));
    expect(log.access_logs).toMatchObject([{ organization_user_id: paula.id }]);
    expect((await change(clinic, paula.id, email)).status).toBe(200);
    expect((await given(client.get("/events?type=organization_user.updated"))).events).toHaveLength(1);
    await clinic.addInvite({ email: paula.email });
  });

  it.each(Object.entries(send))(
    "is refused through %s if the email belongs to another user, until that one is removed",
    async (_, change) => {
      const clinic = await anOrganization();
      const [paula, sam] = [await clinic.addProvider(), await clinic.addProvider("Sam Substitute")];
      const [other, theirs] = [await anOrganization(), anEmail()];
      await other.addProvider("Paula Provider", { email: theirs });
      const refused = await changingNothing(() => change(clinic, paula.id, sam.email));
      expectRefusal(refused, 422, /^(organization_)?user\.email: belongs to another user/);
      expect(refused.headers.get("Error-Code")).toBe("account_exists");
      await given(clinic.platform.delete(`/users/${sam.id}`));
      expect((await change(clinic, paula.id, sam.email)).status).toBe(200);
      expect((await change(clinic, paula.id, theirs)).status).toBe(200);
    },
  );
});

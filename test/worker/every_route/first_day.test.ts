import { describe, expect, it } from "vitest";
import { aCall, aRecipient, minutesAfterStart } from "../support/calls.ts";
import { documents } from "../support/contract.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anInvite, anOrganization, given, unique } from "../support/organization.ts";
import { aCallToTranscribe, says } from "../support/transcripts.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aPlan } from "../support/visits.ts";

/* Small traps that integrators meet on their first day. */

it("The document says that user_id of GET /call_metrics is a string, as the contract does", () => {
  const operation = documents["/api/external"]?.paths["/call_metrics"]?.get;
  const user = operation?.parameters?.find(({ name }) => name === "user_id");
  expect(user?.schema).toMatchObject({ type: "string", pattern: "^[1-9]\\d*$" });
});

it("start_time and end_time in PUT …/transcript are rounded before they are compared, so that lines can touch", async () => {
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
});

describe("A PUT that changes only the start", () => {
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

  it("reports an error about an ended call for the time that was sent", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const late = await call.report({ started_at: minutesAfterStart(40) });
    expectRefusal(late, 422, /^call\.started_at: must not be after ended_at$/);
  });
});

it("A required text counts as blank if it contains only fillers and marks", async () => {
  const blank = " \u200b\u3164\u115f\u1160\u2800\uffa0\u2060\u00ad\ufeff\u200e ";
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

it("A PUT of an organization is refused with another slug, but accepted with its own", async () => {
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

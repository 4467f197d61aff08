import { describe, expect, it } from "vitest";
import { entriesOfRequest } from "../support/access_logs.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fileOf, sealDay, sealsOf, textOf } from "../support/seals.ts";
import { dateAhead, timeAhead, travelToSecond } from "../support/time.ts";
import { planVisit } from "../support/visits.ts";

const RITA = "patient-4711";

const named = (external_reference = RITA) => ({
  role: "recipient",
  display_name: "Rita Recipient",
  external_reference,
});

const idsOf = (items: { id: number }[]) => items.map(({ id }) => id);

const entriesFor = async ({ client }: Organization, reference: string) =>
  (await given(client.get(`/access_logs?per_page=100&external_reference=${reference}`))).access_logs;

describe("The entry of a list", () => {
  it("names the visits on the page in their order, for every filter, and the dates of the filter", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const holder = await clinic.addProvider();
    const assistant = await clinic.addUser("Ann", ["provider_assistant"], { assists: [holder.id] });
    const theirs = await clinic.addClient(assistant.id);
    for (const day of [5, 1, 3, 2, 4])
      await planVisit(clinic, slug, {
        starts_at: timeAhead("09:30:00.000", day),
        organization_user_id: day % 2 ? holder.id : null,
        external_reference: "course-1",
        participants: [named()],
      });
    for (const filter of [
      "",
      "status=planned",
      `organization_user_id=${holder.id}`,
      `organization_user_id=${holder.id}&status=planned`,
      "external_reference=course-1",
      `participant_reference=${RITA}`,
      "status=cancelled",
      "external_reference=nobody",
    ])
      for (const client of [clinic.client, theirs]) {
        const answer = await client.get(
          `/visits?from=${dateAhead(1)}&to=${dateAhead(4)}&${filter}&per_page=2`,
        );
        const { visits } = answer.body;
        expect([filter, visits.length]).toEqual([filter, /cancelled|nobody/.test(filter) ? 0 : 2]);
        const dates = { from_date: dateAhead(1), to_date: dateAhead(4) };
        const what = filter.startsWith("participant")
          ? { event: "search", resource: "participant" }
          : { event: "read", resource: "visit" };
        const entry = { ...what, resource_id: null, shown: idsOf(visits), ...dates };
        expect(await entriesOfRequest(answer)).toMatchObject([entry]);
      }
  });

  it("names who waits in a room, and is written again within the minute only for somebody new", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const arrive = (second: number, key: string) => {
      travelToSecond(second);
      return clinic.addParticipant(slug, {}, key);
    };
    const pollAt = async (second: number, acting_user = "staff-1") => {
      travelToSecond(second);
      const path = `/waiting_rooms/${slug}/participants`;
      const answer = await clinic.client.send("GET", path, undefined, { "X-Acting-User": acting_user });
      return (await entriesOfRequest(answer)).map(({ shown }) => shown);
    };
    expect(await pollAt(0)).toEqual([[]]);
    expect(await pollAt(1)).toEqual([]);
    const [rita, ron] = [await arrive(2, "rita"), await arrive(3, "ron")];
    expect(await pollAt(4)).toEqual([[rita.id, ron.id]]);
    expect(await pollAt(5)).toEqual([]);
    expect(await pollAt(6, "staff-2")).toEqual([[rita.id, ron.id]]);
    await clinic.addParticipant(slug, { left_at: new Date().toISOString() }, "rita");
    expect(await pollAt(8)).toEqual([]);
    const rosa = await arrive(9, "rosa");
    expect(await pollAt(10)).toEqual([[ron.id, rosa.id]]);
    // The entries of the last minute name everybody until the first of them is a minute old.
    expect(await pollAt(63)).toEqual([]);
    expect(await pollAt(70)).toEqual([[ron.id, rosa.id]]);
  });
});

describe("GET /access_logs?external_reference", () => {
  it("finds the lists that showed the person, and searches for them, before and after a correction and the erasure", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const visit = await planVisit(clinic, slug, { participants: [named()] });
    const other = await planVisit(clinic, slug, { participants: [named("patient-1")] });
    const wait = await clinic.addParticipant(slug, { external_reference: RITA });
    const call = await aCall(clinic, { participants: [aRecipient({ external_reference: RITA })] });
    const { participants } = await given(clinic.client.get(`${call.path}/participants`));
    await given(clinic.client.get("/visits"));
    await given(clinic.client.get(`/waiting_rooms/${slug}/participants`));
    await given(clinic.client.get(`/calls?participant_reference=${RITA}`));
    const seen = [
      { event: "create", resource: "visit", resource_id: visit.id, shown: null },
      { resource: "participant", resource_id: null, call_id: call.id, shown: idsOf(participants) },
      { resource: "visit", resource_id: null, shown: [visit.id, other.id], from: null, to: null },
      { resource: "waiting_room", shown: [wait.id] },
      { event: "search", resource: "participant", resource_id: null, call_id: null },
    ];
    expect(await entriesFor(clinic, RITA)).toMatchObject(seen);
    expect(await entriesFor(clinic, "patient-1")).toMatchObject([{ resource_id: other.id }, seen[2]]);
    expect(await entriesFor(clinic, "nobody")).toEqual([]);
    await given(
      clinic.client.put(`/visits/${visit.id}`, {
        visit: { participants: [{ id: visit.participants[0]?.id, external_reference: "patient-2" }] },
      }),
    );
    expect((await entriesFor(clinic, RITA)).slice(0, seen.length)).toMatchObject(seen);
    await clinic.addParticipant(slug, { left_at: new Date().toISOString() }, wait.key);
    expect(await given(clinic.client.delete(`/participants?external_reference=${RITA}`))).toMatchObject({
      erased_count: 3,
    });
    const entries = await entriesFor(clinic, RITA);
    expect(entries.slice(0, seen.length)).toMatchObject(seen);
    expect(JSON.stringify(await storedRows(clinic, "access_logs"))).not.toMatch(/patient-|Rita/);
    const today = new Date().toISOString().slice(0, 10);
    while (!(await sealsOf(clinic)).some(({ date }: { date: string }) => date === today))
      await sealDay(today);
    const file = await textOf(fileOf(clinic, today));
    for (const entry of entries) expect(file).toContain(`${JSON.stringify(entry)}\n`);
  });
});

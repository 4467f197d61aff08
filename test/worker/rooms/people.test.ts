import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { aCall, aProviderOnTheCall, ENDED_AT } from "../support/calls.ts";
import { rowsOf } from "../support/database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { changingOnlyTheLog } from "../support/unchanged.ts";
import { keyOf, planVisit, readVisit } from "../support/visits.ts";

const storedText = async ({ id }: Organization) => JSON.stringify(await rowsOf(id));

const idsIn = (rows: { id: number }[]) => rows.map(({ id }) => id);

/** A planned visit of Rita, who has been on a call of it with a provider. */
async function aVisitOfRita() {
  const clinic = await anOrganization();
  const reference = unique("patient");
  const rita = { role: "recipient", display_name: "Rita Recipient", external_reference: reference };
  const { slug } = await clinic.addRoom();
  const plan = { participants: [rita], external_reference: unique("appointment") };
  const visit = await planVisit(clinic, slug, plan);
  const participants = [{ key: keyOf(visit) }, aProviderOnTheCall()];
  const call = await aCall(clinic, { waiting_room_slug: slug, participants });
  const line = { participant_key: keyOf(visit), text: "Hello.", start_time: 0, end_time: 1 };
  await given(call.reportTranscript({ is_final: true, lines: [line] }));
  const onCall = async () => (await given(clinic.client.get(`${call.path}/participants`))).participants[0];
  const found = async (list: "calls" | "visits", sought: string) =>
    idsIn((await given(clinic.client.get(`/${list}?participant_reference=${sought}`)))[list]);
  const logged = async (sought: string) =>
    (await given(clinic.client.get(`/access_logs?per_page=100&external_reference=${sought}`))).access_logs
      .length;
  return { clinic, slug, reference, visit, call, participants, onCall, found, logged };
}

describe("A person with a record", () => {
  it("is shown everywhere as the visit is corrected, also after the call, and reports do not undo it", async () => {
    const { clinic, slug, reference, visit, call, participants, onCall, found, logged } =
      await aVisitOfRita();
    const wait = await clinic.addParticipant(slug, {}, `2nd:${keyOf(visit)}`);
    const onlyPlanned = { participants: [{ role: "recipient", display_name: "Ron" }] };
    const ahead = await planVisit(clinic, slug, onlyPlanned);
    const before = await logged(reference);
    const [{ id } = { id: 0 }] = visit.participants;
    const corrected = { display_name: "Rita Rowe", external_reference: unique("patient") };
    const change = { participants: [{ id, ...corrected }], external_reference: "appointment-8" };
    await given(clinic.client.put(`/visits/${visit.id}`, { visit: change }));
    const renamed = { participants: [{ id: ahead.participants[0]?.id, display_name: "Rolf" }] };
    await given(clinic.client.put(`/visits/${ahead.id}`, { visit: renamed }));
    const { events } = await given(clinic.client.get("/events?type=participant.updated"));
    expect(events.map(({ data }: { data: object }) => data)).toMatchObject([
      { participant_id: (await onCall()).id, call_id: call.id },
      { participant_id: wait.id },
    ]);
    const said = participants.map((each) => ({ display_name: "Somebody", role: "recipient", ...each }));
    await given(call.report({ participants: [{ ...said[0], key: keyOf(visit) }] }));
    expect(await onCall()).toMatchObject(corrected);
    expect((await given(clinic.client.get(call.path))).external_reference).toBe("appointment-8");
    const { transcript_lines } = await given(clinic.client.get(`${call.path}/transcript`));
    expect(transcript_lines).toMatchObject([{ display_name: "Rita Rowe" }]);
    const webVtt = { Accept: "text/vtt" };
    const captions = await clinic.client.send("GET", `${call.path}/transcript`, undefined, webVtt);
    expect(captions.body).toContain("<v Rita Rowe>");
    const waiting = await given(clinic.client.get(`/waiting_rooms/${slug}/participants`));
    expect(waiting.participants).toMatchObject([corrected]);
    for (const list of ["calls", "visits"] as const) {
      const { id } = list === "calls" ? call : visit;
      expect(await found(list, reference)).toEqual([]);
      expect(await found(list, corrected.external_reference)).toEqual([id]);
    }
    // Reads from before the correction are found under both numbers.
    expect(await logged(reference)).toBeGreaterThan(before);
    expect(await logged(corrected.external_reference)).toBeGreaterThan(before);
    expect(await entriesAbout(clinic, "search", "participant")).toHaveLength(4);
  });

  it("can be corrected on the call, which changes the visit, with one event", async () => {
    const { clinic, visit, call, onCall } = await aVisitOfRita();
    const { id } = await onCall();
    const correct = (participant: object) =>
      clinic.client.put(`${call.path}/participants/${id}`, { participant });
    const corrected = await given(correct({ display_name: "Rita Rowe", external_reference: null }));
    expect(corrected).toEqual(await onCall());
    expect(corrected).toMatchObject({ display_name: "Rita Rowe", external_reference: null });
    expect((await readVisit(clinic, visit)).participants).toMatchObject([{ display_name: "Rita Rowe" }]);
    await given(call.report({ participants: [{ key: keyOf(visit), external_reference: "late" }] }));
    expect(await onCall()).toEqual(corrected);
    await given(correct({}));
    expect(await entriesAbout(clinic, "update", "participant")).toMatchObject([
      { resource_id: id, call_id: call.id },
    ]);
    const { events } = await given(clinic.client.get("/events?type=participant.updated"));
    expect(events).toMatchObject([{ data: { participant_id: id, call_id: call.id } }]);
  });

  it("comes as Participant if they were erased before, and stays whole while they wait", async () => {
    const { clinic, slug, visit, reference } = await aVisitOfRita();
    const key = `2nd:${keyOf(visit)}`;
    const said = { display_name: "Rita Recipient", external_reference: reference, waiting_since: ENDED_AT };
    await clinic.addParticipant(slug, said, key);
    const erase = () => given(clinic.client.delete(`/participants?external_reference=${reference}`));
    expect(await changingOnlyTheLog(erase)).toMatchObject({ erased_count: 0, ongoing_count: 3 });
    const left = { ...said, left_at: new Date(Date.parse(ENDED_AT) + 1000).toISOString() };
    await clinic.addParticipant(slug, left, key);
    expect(await erase()).toMatchObject({ erased_count: 3, ongoing_count: 0 });
    const again = await clinic.addParticipant(slug, said, `3rd:${keyOf(visit)}`);
    expect(again).toMatchObject({ display_name: "Participant" });
    expect(await storedText(clinic)).not.toContain("Rita Recipient");
  });
});

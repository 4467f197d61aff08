import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { MAX_CALL_PARTICIPANTS, MAX_WEBHOOK_ENDPOINTS } from "../../../src/limits.ts";
import {
  aCall,
  aRecipient,
  ENDED_AT,
  minutesAfterStart,
  STARTED_AT,
  WAITING_SINCE,
} from "../support/calls.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { kinds, reportInRoom, toldOf } from "../support/participant_events.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { leavingNoRows } from "../support/unchanged.ts";

const DAY = 24 * 60;

describe("Events of a waiting participant", () => {
  it("name the other room after a move, even for a visit that is over when it is reported", async () => {
    const clinic = await anOrganization();
    const [here, there] = [await clinic.addRoom(), await clinic.addRoom()];
    const { key, id: participant_id } = await clinic.addParticipant(here.slug, {
      waiting_since: minutesAfterStart(0),
    });
    const during = (slug: string, participant: object) =>
      toldOf(clinic, () => given(reportInRoom(slug, key, participant)));
    const event = (type: string, room: { id: number }) => ({
      type: `participant.${type}`,
      data: { waiting_room_id: room.id, participant_id },
    });
    expect(await during(there.slug, { waiting_since: minutesAfterStart(2) })).toEqual([
      event("waiting", there),
    ]);
    expect(await during(here.slug, { waiting_since: minutesAfterStart(0) })).toEqual([]);
    expect(await during(there.slug, { left_at: minutesAfterStart(3) })).toEqual([event("left", there)]);
    const visit = { waiting_since: minutesAfterStart(5), left_at: minutesAfterStart(6) };
    expect(await during(here.slug, visit)).toEqual([event("waiting", here), event("left", here)]);
    await during(here.slug, { waiting_since: minutesAfterStart(10) });
    const unseen = { waiting_since: minutesAfterStart(12), left_at: minutesAfterStart(13) };
    expect(await during(there.slug, unseen)).toEqual([event("waiting", there), event("left", there)]);
  });

  it("include participant.left when the room's owner is removed, and participant.waiting when the room is back", async () => {
    const clinic = await anOrganization();
    const { id, email, waiting_room_slug } = await clinic.addProvider();
    const key = unique("rita");
    const said = { display_name: "Rita", role: "recipient" };
    const waits = (waiting_since: string) =>
      given(reportInRoom(waiting_room_slug, key, { ...said, waiting_since }));
    expect(kinds(await toldOf(clinic, () => waits(fromNow(-2))))).toEqual(["waiting"]);
    expect(kinds(await toldOf(clinic, () => given(clinic.platform.delete(`/users/${id}`))))).toEqual([
      "left",
    ]);
    await clinic.addUser("Paula Provider", ["provider"], { email, returning_user_id: id });
    travelTo(fromNow(2));
    expect(kinds(await toldOf(clinic, () => waits(fromNow(0))))).toEqual(["waiting"]);
  });

  it("include participant.left after a day without reports, but not the erasure, after which the same person is a new participant", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const { key, waiting_since } = await clinic.addParticipant(room.slug);
    travelTo(fromNow(DAY + 1));
    const gone = await toldOf(clinic, async () => {
      await workerWith({}).runCron();
      await workerWith({}).runCron();
    });
    expect(kinds(gone)).toEqual(["left"]);
    const late = { waiting_since, left_at: fromNow(-DAY) };
    expect(await toldOf(clinic, () => given(reportInRoom(room.slug, key, late)))).toEqual([]);
    await given(clinic.platform.put("", { organization: { participant_retention_days: 1 } }));
    travelTo(fromNow(2 * DAY));
    expect(await toldOf(clinic, () => workerWith({}).runCron())).toEqual([]);
    const rita = { display_name: "Rita", role: "recipient", waiting_since: fromNow(0) };
    const again = await toldOf(clinic, () => given(reportInRoom(room.slug, key, rita)));
    expect(kinds(again)).toEqual(["waiting"]);
    expect(again[0]?.data.participant_id).not.toBe(gone[0]?.data.participant_id);
  });
});

describe("Events of a participant on a call", () => {
  it("are waiting, joined and left, once each, even if one report has all the times, with the ids of the call", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT });
    let call: Awaited<ReturnType<typeof aCall>> | undefined;
    const told = await toldOf(clinic, async () => {
      call = await aCall(clinic, { participants: [rita] });
      await given(call.report({ ended_at: ENDED_AT, participants: [rita] }));
    });
    const data = {
      waiting_room_id: call?.room.id,
      participant_id: expect.any(Number),
      call_id: call?.id,
      organization_user_id: call?.owner.id,
    };
    const types = ["participant.waiting", "participant.joined", "participant.left"];
    expect(told).toEqual(types.map((type) => ({ type, data })));
  });

  it("leave out participant.waiting if they came after joining, and participant.joined without a join time", async () => {
    const clinic = await anOrganization();
    const during = (participant: object) =>
      toldOf(clinic, () => aCall(clinic, { ended_at: null, participants: [aRecipient(participant)] }));
    expect(kinds(await during({ waiting_since: STARTED_AT, joined_at: STARTED_AT }))).toEqual(["joined"]);
    expect(kinds(await during({ waiting_since: ENDED_AT, joined_at: STARTED_AT }))).toEqual(["joined"]);
    expect(kinds(await during({ waiting_since: STARTED_AT }))).toEqual(["waiting"]);
    expect(await during({})).toEqual([]);
  });

  it("include another joined after they leave, and a cleared time that is reported again, but no late report", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient();
    const call = await aCall(clinic, { ended_at: null, participants: [rita] });
    const during = async (participant: object) =>
      kinds(
        await toldOf(clinic, () => given(call.report({ participants: [{ key: rita.key, ...participant }] }))),
      );
    const first = { joined_at: minutesAfterStart(1), left_at: minutesAfterStart(5) };
    expect(await during({ waiting_since: WAITING_SINCE, joined_at: first.joined_at })).toEqual([
      "waiting",
      "joined",
    ]);
    expect(await during({ joined_at: null, waiting_since: null })).toEqual([]);
    expect(await during({ joined_at: first.joined_at, waiting_since: WAITING_SINCE })).toEqual([
      "waiting",
      "joined",
    ]);
    expect(await during(first)).toEqual(["left"]);
    expect(await during({ joined_at: minutesAfterStart(7) })).toEqual(["joined"]);
    expect(await during(first)).toEqual([]);
    const present = await given(reportInRoom(call.room.slug, rita.key, {}));
    expect(present).toMatchObject({ joined_at: minutesAfterStart(7), left_at: null });
  });

  it("include participant.left once when the call ends, even if the end was assumed before it was reported", async () => {
    const clinic = await anOrganization();
    const people = [1, 2, 3].map((minutes) => aRecipient({ joined_at: minutesAfterStart(minutes) }));
    const call = await aCall(clinic, { ended_at: null, participants: people });
    const [first, second, third] = people.map(({ key }) => key);
    await given(call.report({ participants: [{ key: first, left_at: minutesAfterStart(4) }] }));
    travelTo(fromNow(DAY + 1));
    const during = async (work: () => Promise<unknown>) => kinds(await toldOf(clinic, work));
    expect(await during(() => workerWith({}).runCron())).toEqual(["left", "left"]);
    const late = [
      { key: second, joined_at: minutesAfterStart(6) },
      { key: third, left_at: minutesAfterStart(7) },
    ];
    expect(await during(() => given(call.report({ participants: late })))).toEqual([]);
    expect(await during(() => given(call.report({ ended_at: ENDED_AT })))).toEqual([]);
    expect(await during(() => given(call.report({ participants: [aRecipient()] })))).toEqual(["left"]);
  });
});

it("The events of a call with the maximum number of participants are delivered for each of them to every endpoint that wants them", async () => {
  const clinic = await anOrganization();
  const url = "https://hooks.example.com/visits";
  const endpoint = { url, event_types: ["participant.*"] };
  for (let n = 0; n < MAX_WEBHOOK_ENDPOINTS; n++)
    await given(clinic.client.post("/webhook_endpoints", { webhook_endpoint: n % 2 ? endpoint : { url } }));
  const times = { waiting_since: WAITING_SINCE, joined_at: STARTED_AT };
  const participants = Array.from({ length: MAX_CALL_PARTICIPANTS }, () => aRecipient(times));
  await aCall(clinic, { participants }, clinic.admin);
  const { results } = await env.DB.prepare(
    `select type, count(distinct event_id) as events, count(*) as deliveries
       from webhook_deliveries join events on events.id = event_id
       where events.organization_id = ? and type like 'participant.%' group by type`,
  )
    .bind(clinic.id)
    .all();
  const each = { events: MAX_CALL_PARTICIPANTS, deliveries: MAX_CALL_PARTICIPANTS * MAX_WEBHOOK_ENDPOINTS };
  expect(results).toEqual(
    ["participant.joined", "participant.left", "participant.waiting"].map((type) => ({ type, ...each })),
  );
  leavingNoRows(clinic.id, "webhook_deliveries", "events");
});

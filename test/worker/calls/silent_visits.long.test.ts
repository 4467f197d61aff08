import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import {
  aCall,
  aProviderOnTheCall,
  aRecipient,
  ENDED_AT,
  knownParticipant,
  minutesAfterStart,
  STARTED_AT,
  waitingCount,
} from "../support/calls.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, changingNothingOf } from "../support/unchanged.ts";

const DAY = 24 * 60;

/** Ends the visits of other tests, so that the cron's portions are for the test's own visits. */
beforeEach(async () => {
  await env.DB.batch([
    env.DB.prepare("update calls set ended_at = started_at where ended_at is null"),
    env.DB.prepare("update participants set left_at = 0 where left_at is null"),
  ]);
});

const runCron = () => workerWith({}).runCron();

/** Lets a day and a minute pass, and runs the cron. */
async function afterSilence() {
  travelTo(fromNow(DAY + 1));
  await runCron();
}

const RITA = unique("rita");
const PAULA = unique("paula");

/** The events of `aSilentCall`. */
const BEGUN = [
  "call.started",
  "participant.joined",
  "participant.left",
  "participant.waiting",
  "participant.joined",
];

/** An ongoing call. Paula left after half an hour; Rita has not left. */
async function aSilentCall(clinic: Organization, call: object = {}) {
  const participants = [
    aProviderOnTheCall({ key: PAULA, joined_at: STARTED_AT, left_at: ENDED_AT }),
    aRecipient({ key: RITA, waiting_since: minutesAfterStart(-10), joined_at: minutesAfterStart(1) }),
  ];
  const silent = await aCall(clinic, { ended_at: undefined, participants, ...call });
  return {
    ...silent,
    line: (end_time: number, key = RITA) => ({
      participant_key: key,
      text: "Good morning.",
      start_time: 0,
      end_time,
    }),
    /** The call as the platform sees it, returned by an empty report, which changes nothing. */
    known: () => given(silent.report({})),
    leftAt: async () => {
      const left = async (key: string) => (await knownParticipant(silent.room.slug, key)).left_at;
      return { paula: await left(PAULA), rita: await left(RITA) };
    },
    events: async () => {
      const { events } = await given(clinic.client.get("/events?per_page=100"));
      return events
        .filter(({ data }: { data: { call_id?: number } }) => data.call_id === silent.id)
        .map(({ type }: { type: string }) => type);
    },
  };
}

type SilentCall = Awaited<ReturnType<typeof aSilentCall>>;

describe("A call whose end is never reported", () => {
  it("ends once, a day after the last report that changed something; then its results can be read, and everybody has left", async () => {
    const clinic = await anOrganization();
    const call = await aSilentCall(clinic);
    await given(call.reportTranscript({ is_final: true, summary: "Well.", lines: [call.line(60)] }));
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    const egress = await call.addEgress();
    const statuses = () =>
      Promise.all(
        ["transcript", "soap_note", `egresses/${egress.id}`].map(
          async (result) => (await clinic.client.get(`${call.path}/${result}`)).status,
        ),
      );
    travelTo(fromNow(DAY - 1));
    await runCron();
    expect(await call.known()).toMatchObject({ is_ended: false, ended_by: null, ended_at: null });
    expect(await statuses()).toEqual([404, 404, 404]);

    travelTo(fromNow(2));
    await runCron();
    expect(await call.known()).toMatchObject({ is_ended: true, ended_by: "assumed", ended_at: ENDED_AT });
    expect(await statuses()).toEqual([200, 200, 200]);
    expect(await call.leftAt()).toEqual({ paula: ENDED_AT, rita: ENDED_AT });
    expect(await call.events()).toEqual([
      ...BEGUN,
      "egress.started",
      "participant.left",
      "call.ended",
      "transcript.finalized",
      "soap_note.finalized",
      "egress.ended",
    ]);
    expect(await waitingCount(clinic, call.room.slug)).toBe(0);
    // Two days later, the cron has deleted the client's counts of that day, whatever the time of day is now.
    travelTo(fromNow(2 * DAY));
    await runCron();
    await changingNothingOf(clinic, runCron);
  });

  const nobody = [aRecipient({ key: RITA })];

  it("ends at the latest known time of its start, its participants, its current transcript or a recording", async () => {
    const participant = (times: object) => ({ participants: [{ key: RITA, ...times }] });
    const reports: [minutes: number, (call: SilentCall) => unknown][] = [
      [0, () => {}],
      [7, (call) => given(call.report(participant({ joined_at: minutesAfterStart(7) })))],
      [8, (call) => given(call.report(participant({ left_at: minutesAfterStart(8) })))],
      [9, (call) => given(call.report(participant({ waiting_since: minutesAfterStart(9) })))],
      [
        10.5,
        async (call) => {
          for (const report of [
            { lines: [call.line(900)] },
            { lines: [call.line(630)] },
            { summary: "Well." },
          ])
            await given(call.reportTranscript({ is_final: false, ...report }));
        },
      ],
      [11, (call) => call.addEgress({ ended_at: minutesAfterStart(11) })],
    ];
    const calls: SilentCall[] = [];
    for (const [, report] of reports) {
      const call = await aSilentCall(await anOrganization(), { participants: nobody });
      await report(call);
      calls.push(call);
    }
    await afterSilence();
    for (const [n, [minutes]] of reports.entries()) {
      const ended_at = minutesAfterStart(minutes);
      expect(await calls[n]?.known()).toMatchObject({ ended_by: "assumed", ended_at });
    }
  });

  it("never ends in the future, even if a transcript line does", async () => {
    const clinic = await anOrganization();
    const call = await aSilentCall(clinic, { participants: nobody });
    await given(call.reportTranscript({ is_final: false, lines: [call.line(1e300)] }));
    await afterSilence();
    const { ended_at } = await call.known();
    expect(Math.abs(Date.parse(ended_at) - Date.now())).toBeLessThan(60_000);
  });

  it("stays open for another day after any report that changes something, but not after a repeated report", async () => {
    const reports: ((call: SilentCall) => Promise<unknown>)[] = [
      (call) => given(call.report({ failed: true })),
      (call) => given(call.report({ participants: [{ key: RITA, display_name: "Rita R." }] })),
      (call) => given(call.reportTranscript({ is_final: false, lines: [] })),
      (call) => given(call.reportSoapNote({ text: "Well.", is_final: false })),
      (call) => call.addEgress({}, `egress-${call.key}`),
    ];
    const calls: SilentCall[] = [];
    for (const _ of reports) calls.push(await aSilentCall(await anOrganization()));
    for (const _ of ["first", "repeated"]) {
      travelTo(fromNow(DAY - 60));
      for (const [n, call] of calls.entries()) await reports[n]?.(call);
    }
    await runCron();
    for (const call of calls) expect(await call.known()).toMatchObject({ is_ended: false });
    travelTo(fromNow(61));
    await runCron();
    for (const call of calls)
      expect(await call.known()).toMatchObject({ is_ended: true, ended_by: "assumed" });
  });
});

describe("PUT …/calls/{key} after an assumed end", () => {
  it("replaces the assumed end, which does not count in the average duration, and the leaving times derived from it", async () => {
    const clinic = await anOrganization();
    const call = await aSilentCall(clinic);
    await aCall(clinic, { ended_at: minutesAfterStart(10) });
    await afterSilence();
    const metrics = () => given(clinic.client.get("/call_metrics?date_start=2026-01-31&date_end=2026-01-31"));
    expect(await metrics()).toMatchObject({
      total_calls: { "2026-01-31": 2 },
      average_duration: { "2026-01-31": 600 },
    });
    const ended_at = minutesAfterStart(45);
    const ended = await given(call.report({ ended_at }));
    expect(ended).toMatchObject({ is_ended: true, ended_by: "reported", ended_at });
    expect((await metrics()).average_duration).toEqual({ "2026-01-31": (10 + 45) * 30 });
    expect(await call.leftAt()).toEqual({ paula: ENDED_AT, rita: ended_at });
    expect(await call.events()).toEqual([...BEGUN, "participant.left", "call.ended", "call.updated"]);
    await changingNothing(() => call.report({ ended_at }));
  });

  it("leaves the assumed end as it is if it reports no end, but moves it past a later start", async () => {
    const clinic = await anOrganization();
    const call = await aSilentCall(clinic);
    await afterSilence();
    expect(await given(call.report({ ended_at: null, failed: true }))).toMatchObject({
      ended_by: "assumed",
      ended_at: ENDED_AT,
    });
    await given(call.reportTranscript({ is_final: true, lines: [call.line(60 * 60)] }));
    expect(await call.known()).toMatchObject({ ended_by: "assumed", ended_at: ENDED_AT });
    await afterSilence();
    expect(await call.known()).toMatchObject({ ended_by: "assumed", ended_at: ENDED_AT });
    const started_at = minutesAfterStart(45);
    const moved = { started_at, ended_at: started_at, ended_by: "assumed" };
    expect(await given(call.report({ started_at }))).toMatchObject(moved);
  });
});

describe("A wait whose end is never reported", () => {
  it("ends a day after the last report that changed something, and a later wait is a new visit", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const waiting_since = fromNow(-5);
    const rita = await clinic.addParticipant(room.slug, { waiting_since });
    const ron = await clinic.addParticipant(room.slug);
    const report = (participant: object) => clinic.addParticipant(room.slug, participant, rita.key);
    travelTo(fromNow(DAY - 1));
    await report({ waiting_since });
    await clinic.addParticipant(room.slug, { display_name: "Ron R." }, ron.key);
    await runCron();
    expect(await waitingCount(clinic, room.slug)).toBe(2);
    travelTo(fromNow(2));
    await runCron();
    expect(await waitingCount(clinic, room.slug)).toBe(1);
    expect(await report({ waiting_since })).toMatchObject({ left_at: waiting_since });

    const later = fromNow(0);
    expect(await report({ waiting_since: later })).toMatchObject({ waiting_since: later, left_at: null });
    expect(await waitingCount(clinic, room.slug)).toBe(2);
  });

  it("does not keep the participant off a call whose report names them later, and is not ended for one on the call", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: undefined });
    const { key } = await clinic.addParticipant(call.room.slug);
    const known = (who = key) => knownParticipant(call.room.slug, who);
    travelTo(fromNow(DAY + 1));
    await given(call.report({ failed: true }));
    await runCron();
    expect(await known(call.participants[1].key)).toMatchObject({ left_at: null });
    await given(call.report({ participants: [{ key }] }));
    expect(await known()).toMatchObject({ call_id: call.id, left_at: null });
    await given(call.report({ ended_at: ENDED_AT }));
    expect((await known()).left_at).not.toBeNull();
  });
});

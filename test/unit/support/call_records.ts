import type { CallRecord } from "../../../src/handover/call_records/call_records.service.ts";
import { asLines } from "../../../src/results/transcripts/transcripts.document.ts";

export const ADDRESS = "https://visits.example.com";

export const STARTED_AT = Date.parse("2026-01-31T09:30:00Z");

const MINUTE = 60_000;

const times = { created_at: STARTED_AT, updated_at: STARTED_AT + 40 * MINUTE };

const CALL = {
  id: 300,
  organization_id: 1,
  organization_user_id: 12,
  started_at: STARTED_AT,
  ended_at: STARTED_AT + 30 * MINUTE,
  end_is_assumed: false,
  failed: false,
  organization_name: "Riverside Clinic",
  organization_slug: "riverside-clinic",
  patient_identifier_system: null,
  room_name: "Cardiology",
  ...times,
};

const aConsent = (decision: string, method: string | null) => ({ decision, decided_at: STARTED_AT, method });

const aPerson = (id: number, role: string, display_name: string, more: object = {}) => ({
  id,
  person_id: id + 1000,
  role,
  display_name,
  user_id: null,
  external_reference: null,
  joined_at: STARTED_AT,
  left_at: STARTED_AT + 30 * MINUTE,
  consent: aConsent("granted", "verbal"),
  ...times,
  ...more,
});

export const PAULA = aPerson(402, "provider", "Paula Provider", { user_id: 12 });
export const RITA = aPerson(401, "recipient", "Rita Recipient", { external_reference: "patient-4711" });
export const ROB = aPerson(403, "recipient", "Rob Relative", { external_reference: "patient-4712" });

const aText = (kind: string, more: object) => ({
  id: kind === "transcript" ? 71 : 72,
  call_id: CALL.id,
  kind,
  is_final: true,
  corrections: 0,
  corrected: [],
  summary: null,
  ...times,
  ...more,
});

const says = (id: number, speaker_id: number, text: string) => ({
  id,
  speaker_id,
  text,
  start_time: id,
  end_time: id + 0.5,
});

export const transcriptOf = (people: { id: number; display_name: string }[], more: object = {}) =>
  aText("transcript", {
    summary: "A cough.",
    lines: asLines(people.map(({ id }, n) => says(n, id, `Good morning & <welcome>, said ${n}.`))),
    names: new Map(people.map(({ id, display_name }) => [id, display_name])),
    ...more,
  });

export const aNote = (more: object = {}) =>
  aText("soap_note", { text: "Subjective: a cough.\nPlan: rest.", ...more });

export const aRecording = (more: object = {}) => ({
  id: 61,
  started_at: STARTED_AT + MINUTE,
  ended_at: STARTED_AT + 20 * MINUTE,
  duration: 19 * MINUTE,
  size: 104_857_600,
  ...times,
  ...more,
});

export const aRecord = ({ call = {}, ...more }: { call?: object } & Record<string, unknown> = {}) =>
  ({
    address: ADDRESS,
    call: { ...CALL, ...call },
    participants: [PAULA, RITA],
    transcript: undefined,
    soap_note: undefined,
    recordings: [],
    ...more,
  }) as unknown as CallRecord;

const complete = {
  transcript: transcriptOf([PAULA, RITA]),
  soap_note: aNote(),
  recordings: [aRecording()],
};

const named = (display_name: string) => ({ ...RITA, display_name });

const completeOf = (...participants: object[]) => aRecord({ ...complete, participants });

const correctedAfter = (version: number) => ({
  user_id: 11,
  created_at: STARTED_AT + (40 + version) * MINUTE,
});

/** Twenty calls that differ in what their forms depend on. */
export const CALLS: Record<string, CallRecord> = {
  complete: aRecord(complete),
  "going on": aRecord({ call: { ended_at: null }, participants: [{ ...PAULA, left_at: null }, RITA] }),
  "with an assumed end": aRecord({ call: { end_is_assumed: true } }),
  "with an end at its start": aRecord({ call: { ended_at: STARTED_AT } }),
  failed: aRecord({ call: { failed: true } }),
  "failed after it was recorded": aRecord({ ...complete, call: { failed: true } }),
  "without texts": aRecord({ recordings: [aRecording()] }),
  "with a transcript only": aRecord({ transcript: transcriptOf([PAULA, RITA], { summary: null }) }),
  "with a preliminary transcript": aRecord({ transcript: transcriptOf([PAULA], { is_final: false }) }),
  "with an empty transcript": aRecord({ transcript: transcriptOf([]) }),
  corrected: aRecord({
    ...complete,
    transcript: transcriptOf([PAULA, RITA], { corrected: [correctedAfter(1)] }),
    soap_note: aNote({ corrections: 2, corrected: [correctedAfter(1), correctedAfter(2)] }),
  }),
  "with two patients": completeOf(PAULA, RITA, ROB),
  "with a relative without a reference": completeOf(PAULA, RITA, { ...ROB, external_reference: null }),
  "with refusals": aRecord({ participants: [PAULA, { ...RITA, consent: aConsent("refused", null) }] }),
  "without references": completeOf(PAULA, { ...RITA, external_reference: null }),
  "without participants": aRecord({ participants: [] }),
  "with a participant who came back": aRecord({
    participants: [
      { ...RITA, joined_at: STARTED_AT + MINUTE, left_at: STARTED_AT },
      { ...PAULA, joined_at: null, left_at: null },
    ],
  }),
  "with a name from right to left": completeOf(PAULA, named("\u200fדוד לוי\u200f")),
  "with rare white space in names": aRecord({
    call: { room_name: "Room\u00a01", patient_identifier_system: "urn:oid:2.999.7" },
    participants: [named("Rita\u2028R\u00a0<&>\u3000"), PAULA],
  }),
  "with recordings of which little is known": aRecord({
    recordings: [
      aRecording({ id: 62, started_at: null, duration: null, size: null, ended_at: null }),
      aRecording({ id: 63, size: 5_000_000_000 }),
    ],
  }),
};

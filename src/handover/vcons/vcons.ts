import { toTimestamp } from "../../http/wire.ts";
import type { StoredLine } from "../../results/transcripts/transcripts.document.ts";
import { SECOND } from "../../units.ts";
import { type CallRecord, pathOfRecording } from "../call_records/call_records.schemas.ts";
import { uuidOfVcon } from "./vcons.uuid.ts";

/* The vCon of a call: draft-ietf-vcon-vcon-core-04, with the parameters of our own extension. */

/** `role`, `external_reference` and `user_id` of a party, `call_id` and `path` of a dialog. Programs that do not know them can ignore them. */
const EXTENSION = "organization_video_visit";

const VENDOR = "Organization Video Visit Service";

export type Vcon = Awaited<ReturnType<typeof vconOf>>;

/**
 * @param address of this service: see `addressOf`
 * @param onlyPeople the ids of the only people to name. Of the others, only the role remains.
 */
export async function vconOf(
  record: CallRecord,
  { address, onlyPeople }: { address: string; onlyPeople?: readonly number[] },
) {
  const { call } = record;
  const uuid = await uuidOfVcon(call, address);
  const named = onlyPeople && new Set(onlyPeople);
  const isNamed = ({ person_id }: Participant) => named?.has(person_id) ?? true;
  const [analysis, attachments] = [analysisOf(record), attachmentsOf(record, isNamed)];
  return {
    vcon: "0.4.0",
    ...(onlyPeople
      ? {
          uuid: await uuidOfVcon(call, address, onlyPeople),
          redacted: { uuid, type: "other_parties" },
        }
      : { uuid }),
    extensions: [EXTENSION],
    created_at: toTimestamp(call.created_at),
    updated_at: toTimestamp(latestChange(record)),
    parties: record.participants.map((each) => partyOf(each, isNamed(each))),
    dialog: [dialogOfCall(record), ...record.recordings.map((each) => dialogOfRecording(record, each))],
    ...(analysis.length > 0 && { analysis }),
    ...(attachments.length > 0 && { attachments }),
  };
}

type Participant = CallRecord["participants"][number];

const latestChange = ({ call, participants, transcript, soap_note, recordings }: CallRecord) =>
  Math.max(
    ...[call, ...participants, ...recordings, transcript, soap_note].map((row) => row?.updated_at ?? 0),
  );

const partyOf = ({ role, display_name, external_reference, user_id }: Participant, isNamed: boolean) => ({
  type: "person",
  role,
  ...(isNamed && {
    name: display_name,
    ...(external_reference !== null && { external_reference }),
    ...(user_id !== null && { user_id }),
  }),
});

function dialogOfCall({ call, participants, recordings }: CallRecord) {
  const { started_at, ended_at } = call;
  const party_history = participants.flatMap(({ joined_at, left_at }, party) => [
    ...(joined_at === null ? [] : [{ party, time: toTimestamp(joined_at), event: "join" }]),
    ...(left_at === null ? [] : [{ party, time: toTimestamp(left_at), event: "drop" }]),
  ]);
  return {
    ...(call.failed && recordings.length === 0
      ? { type: "incomplete", disposition: "failed" }
      : { type: "recording-set", recordings: recordings.map((_, n) => n + 1) }),
    start: toTimestamp(started_at),
    ...(ended_at !== null && { duration: (ended_at - started_at) / SECOND }),
    parties: participants.map((_, n) => n),
    ...(party_history.length > 0 && { party_history }),
    call_id: call.id,
  };
}

/** Without `url`, which needs a hash of the file. If no report said when the recording began, it is shown as begun with the call. */
const dialogOfRecording = (
  { call, participants }: CallRecord,
  recording: CallRecord["recordings"][number],
) => ({
  type: "recording",
  start: toTimestamp(recording.started_at ?? call.started_at),
  ...(recording.duration !== null && { duration: recording.duration / SECOND }),
  parties: participants.map((_, n) => n),
  recording_set: 0,
  path: pathOfRecording(call, recording),
});

function analysisOf({ participants, transcript, soap_note }: CallRecord) {
  const ofCall = { dialog: 0, vendor: VENDOR };
  const plain = { ...ofCall, mediatype: "text/plain", encoding: "none" };
  const json = { ...ofCall, mediatype: "application/json", encoding: "json" };
  const parties = new Map(participants.map(({ id }, party) => [id, party]));
  const toLine = ({ speaker_id, start_time, end_time, text }: StoredLine) => ({
    party: parties.get(speaker_id),
    start_time,
    end_time,
    text,
  });
  const analysis = [];
  if (transcript) {
    const body = { is_final: transcript.is_final, transcript_lines: Array.from(transcript.lines, toLine) };
    analysis.push({ type: "transcript", ...json, schema: "transcript_lines", body });
  }
  if (transcript?.summary) analysis.push({ type: "summary", ...plain, body: transcript.summary });
  if (soap_note) analysis.push({ type: "report", ...plain, schema: "soap_note", body: soap_note.text });
  return analysis;
}

const attachmentsOf = (
  { participants, decisions }: CallRecord,
  isNamed: (participant: Participant) => boolean,
) =>
  decisions.flatMap(({ participant_id, decision, decided_at, method }) => {
    const party = participants.findIndex(({ id }) => id === participant_id);
    const participant = participants[party];
    if (!participant || !isNamed(participant)) return [];
    return [
      {
        purpose: "recording_consent",
        start: toTimestamp(decided_at),
        party,
        dialog: 0,
        mediatype: "application/json",
        encoding: "json",
        body: { decision, decided_at: toTimestamp(decided_at), method },
      },
    ];
  });

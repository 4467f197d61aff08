import { type SigningKey, signJws } from "../../audit/access_log_seals/access_log_seals.keys.ts";
import { hexOf } from "../../bytes/hex.ts";
import type { Context } from "../../context.ts";
import { ApiError } from "../../http/errors.ts";
import { toTimestamp } from "../../http/wire.ts";
import type { StoredLine } from "../../results/transcripts/transcripts.document.ts";
import { SECOND } from "../../units.ts";
import { type CallRecord, pathOfRecording } from "../call_records/call_records.service.ts";

/* The vCon of a call: draft-ietf-vcon-vcon-core-04, with the parameters of our own extension. */

/** `role`, `external_reference` and `user_id` of a party, `call_id` and `path` of a dialog. Programs that do not know them can ignore them. */
const EXTENSION = "organization_video_visit";

const VENDOR = "Organization Video Visit Service";

type Participant = CallRecord["participants"][number];

/** @param onlyPeople the ids of the only people to name. Of the others, only the role remains. */
export async function vconOf(record: CallRecord, onlyPeople?: readonly number[]) {
  const { call, participants, recordings, transcript, soap_note } = record;
  const changed = [call, ...participants, ...recordings, transcript, soap_note];
  const uuid = await uuidOfVcon(record);
  const isNamed = ({ person_id }: Participant) => onlyPeople?.includes(person_id) ?? true;
  const analysis = analysisOf(record);
  const attachments = participants.flatMap((each, party) => (isNamed(each) ? attachmentOf(each, party) : []));
  return {
    vcon: "0.4.0",
    uuid,
    ...(onlyPeople && {
      uuid: await uuidOfVcon(record, onlyPeople),
      redacted: { uuid, type: "other_parties" },
    }),
    extensions: [EXTENSION],
    created_at: toTimestamp(call.created_at),
    updated_at: toTimestamp(Math.max(...changed.map((row) => row?.updated_at ?? 0))),
    parties: participants.map((each) => partyOf(each, isNamed(each))),
    dialog: [dialogOfCall(record), ...recordings.map((each) => dialogOfRecording(record, each))],
    ...(analysis.length > 0 && { analysis }),
    ...(attachments.length > 0 && { attachments }),
  };
}

/**
 * A UUID of version 8 as the draft makes it: the time when the call was first reported, its id, and a digest of the host. It is the same
 * whenever the same service makes it.
 *
 * @param people makes the UUID of the vCon that names only these people
 */
async function uuidOfVcon({ call, address }: CallRecord, people: readonly number[] = []): Promise<string> {
  const host = [people.join("-"), new URL(address).hostname].filter(Boolean).join(".");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(host)));
  const time = call.created_at.toString(16).padStart(12, "0");
  const number = (call.id % 0x1000).toString(16).padStart(3, "0");
  // The two highest bits of the last half are the variant, and the digest follows them.
  const last = ((BigInt(`0x${hexOf(digest.slice(0, 8))}`) >> 2n) | (1n << 63n)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${number}-${last.slice(0, 4)}-${last.slice(4)}`;
}

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
    parties: [...participants.keys()],
    ...(party_history.length > 0 && { party_history }),
    call_id: call.id,
  };
}

/** Without `url`, which needs a hash of the file. If no report said when the recording began, it is shown as begun with the call. */
const dialogOfRecording = (record: CallRecord, recording: CallRecord["recordings"][number]) => ({
  type: "recording",
  start: toTimestamp(recording.started_at ?? record.call.started_at),
  ...(recording.duration !== null && { duration: recording.duration / SECOND }),
  parties: [...record.participants.keys()],
  recording_set: 0,
  path: pathOfRecording(record, recording),
});

const JSON_BODY = { mediatype: "application/json", encoding: "json" };

function analysisOf({ participants, transcript, soap_note }: CallRecord) {
  const ofCall = { dialog: 0, vendor: VENDOR };
  const plain = { ...ofCall, mediatype: "text/plain", encoding: "none" };
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
    analysis.push({ type: "transcript", ...ofCall, ...JSON_BODY, schema: "transcript_lines", body });
  }
  if (transcript?.summary) analysis.push({ type: "summary", ...plain, body: transcript.summary });
  if (soap_note) analysis.push({ type: "report", ...plain, schema: "soap_note", body: soap_note.text });
  return analysis;
}

function attachmentOf({ consent }: Participant, party: number) {
  if (!consent) return [];
  const { decision, method } = consent;
  const decided_at = toTimestamp(consent.decided_at);
  const body = { decision, decided_at, method };
  return [{ purpose: "recording_consent", start: decided_at, party, dialog: 0, ...JSON_BODY, body }];
}

/** The JWS of a vCon in General JSON Serialization. Its `updated_at` is the time of the signature, as the draft wants. */
export async function signVcon(key: SigningKey, vcon: { uuid: string }, now: number) {
  const jws = await signJws(key, "vcon+jws", { ...vcon, updated_at: toTimestamp(now) });
  const [header, payload, signature] = jws.split(".");
  return { payload, signatures: [{ protected: header, header: { uuid: vcon.uuid }, signature }] };
}

/** Signs with the key that seals the access log. */
export function requireSigner({ settings: { AUDIT_SIGNING_KEY: key }, now }: Context) {
  if (!key) throw cannotSign();
  return (vcon: { uuid: string }) => signVcon(key, vcon, now);
}

export const cannotSign = () =>
  new ApiError(
    406,
    "not_acceptable",
    "This service has no signing key, so it cannot sign a vCon: ask for application/vcon+json",
  );

import { base64Of } from "../../bytes/base64.ts";
import { toTimestamp } from "../../http/wire.ts";
import { toTranscriptJson } from "../../results/transcripts/transcripts.schemas.ts";
import { toWebVtt } from "../../results/transcripts/transcripts.webvtt.ts";
import { type CallRecord, pathOfRecording } from "../call_records/call_records.schemas.ts";

/*
 * A call as a transaction for a FHIR server (R4, http://hl7.org/fhir/R4). Conditional updates write the resources, so that a later bundle
 * updates what an earlier one created.
 */

const HL7 = "http://terminology.hl7.org/CodeSystem";
const LOINC = "http://loinc.org";

/** The largest unsignedInt of FHIR. Files can be larger. */
const MAX_SIZE = 2 ** 31 - 1;

interface Entry {
  fullUrl?: string;
  resource: { resourceType: string; [field: string]: unknown };
  request: { method: "PUT" | "POST"; url: string; ifNoneExist?: string };
}

interface Identifier {
  system: string;
  value: string;
}

type Participant = CallRecord["participants"][number];
type CallText = NonNullable<CallRecord["transcript"] | CallRecord["soap_note"]>;
type Recording = CallRecord["recordings"][number];

/** @param address of this service: see `addressOf` */
export function fhirBundleOf(record: CallRecord, { address }: { address: string }) {
  const { transcript, soap_note, recordings } = record;
  const names = namesOf(record, address);
  const texts = [soap_note, transcript].filter((text) => text !== undefined);
  return {
    resourceType: "Bundle",
    type: "transaction",
    entry: [
      encounterOf(record, names),
      ...consentsOf(record, names),
      ...texts.map((text) => documentOfText(text, names)),
      ...recordings.map((recording) => documentOfRecording(record, recording, names)),
      ...texts.flatMap((text) => provenanceOf(text, names)),
    ],
  };
}

type Names = ReturnType<typeof namesOf>;

/** The identifiers of the service's own things, and the patient's. */
function namesOf({ call, participants }: CallRecord, address: string) {
  const name = (kind: string, value: number | string): Identifier => ({
    system: `${address}/identifiers/${kind}`,
    value: String(value),
  });
  const system = call.patient_identifier_system ?? `${address}/identifiers/${call.organization_slug}/patient`;
  const patientOf = ({ external_reference: value, display_name }: Participant) => ({
    type: "Patient",
    identifier: { system, value },
    display: plain(display_name),
  });
  const [patient, ...others] = participants.filter(hasReference).filter(({ role }) => role === "recipient");
  return {
    address,
    name,
    ofCall: (part: string) => name("call", `${call.id}/${part}`),
    patientOf,
    /** The patient, if exactly one recipient has a reference. */
    subject: patient && others.length === 0 ? { subject: patientOf(patient) } : {},
  };
}

const hasReference = ({ external_reference }: Participant) => external_reference !== null;

/** FHIR allows no other white space than these four characters. */
const plain = (text: string) => text.replace(/[^ \r\n\t\S]/g, " ");

/** Omits an end before the start, which FHIR refuses. */
const periodOf = (start: number | null, end: number | null) => ({
  ...(start !== null && { start: toTimestamp(start) }),
  ...(end !== null && end >= (start ?? end) && { end: toTimestamp(end) }),
});

const coded = (system: string, code: string) => ({ coding: [{ system, code }] });

/** A server replaces references to such a name by references to what the entry created or updated. */
const nameInBundle = (part: number) => `urn:uuid:00000000-0000-8000-8000-00000000000${part}`;

const ENCOUNTER = { type: "Encounter", reference: nameInBundle(0) };

const PART = { transcript: 1, soap_note: 2 };

const searchFor = ({ system, value }: Identifier) => encodeURIComponent(`${system}|${value}`);

const updateOf = (resourceType: string, identifier: Identifier, fields: object, part?: number): Entry => ({
  ...(part !== undefined && { fullUrl: nameInBundle(part) }),
  resource: { resourceType, identifier: [identifier], ...fields },
  request: { method: "PUT", url: `${resourceType}?identifier=${searchFor(identifier)}` },
});

function encounterOf({ call, participants }: CallRecord, { name, subject }: Names): Entry {
  const participant = participants.map((each) => {
    const { role, joined_at, left_at, user_id, display_name } = each;
    const code = role === "provider" ? "PPRF" : "PART";
    return {
      type: [{ ...coded(`${HL7}/v3-ParticipationType`, code), text: role }],
      ...((joined_at ?? left_at) !== null && { period: periodOf(joined_at, left_at) }),
      individual: {
        ...(user_id !== null && { identifier: name("organization_user", user_id) }),
        display: plain(display_name),
      },
    };
  });
  const fields = {
    status: call.ended_at === null ? "in-progress" : "finished",
    class: { system: `${HL7}/v3-ActCode`, code: "VR" },
    type: [coded("http://snomed.info/sct", "453131000124105")],
    ...subject,
    ...(participant.length > 0 && { participant }),
    period: periodOf(call.started_at, call.ended_at),
    location: [{ location: { display: plain(call.room_name) } }],
    serviceProvider: {
      type: "Organization",
      identifier: name("organization", call.organization_id),
      display: plain(call.organization_name),
    },
  };
  return updateOf("Encounter", name("call", call.id), fields, 0);
}

const consentsOf = ({ participants, decisions }: CallRecord, { ofCall, patientOf }: Names): Entry[] =>
  participants.filter(hasReference).flatMap((participant) => {
    const decided = decisions.find(({ participant_id }) => participant_id === participant.id);
    if (!decided) return [];
    return updateOf("Consent", ofCall(`consent/${participant.id}`), {
      status: "active",
      scope: coded(`${HL7}/consentscope`, "patient-privacy"),
      category: [coded(LOINC, "59284-0")],
      patient: patientOf(participant),
      dateTime: toTimestamp(decided.decided_at),
      policyRule: { text: "The recording of the call" },
      ...(decided.method !== null && { sourceAttachment: { title: plain(decided.method) } }),
      provision: {
        type: decided.decision === "granted" ? "permit" : "deny",
        data: [{ meaning: "related", reference: ENCOUNTER }],
      },
    });
  });

function documentOfText(text: CallText, { ofCall, subject }: Names): Entry {
  const { kind, is_final, corrections, updated_at } = text;
  const finished = corrections > 0 ? "amended" : "final";
  const fields = {
    masterIdentifier: ofCall(`${kind}/${corrections + 1}`),
    status: "current",
    docStatus: is_final ? finished : "preliminary",
    type: kind === "soap_note" ? coded(LOINC, "11506-3") : { text: "Transcript of the call" },
    ...subject,
    date: toTimestamp(updated_at),
    content: formatsOf(text).map(([contentType, parts]) => ({
      attachment: { contentType, data: base64Of(new TextEncoder().encode([...parts].join(""))) },
    })),
    context: { encounter: [ENCOUNTER] },
  };
  return updateOf("DocumentReference", ofCall(kind), fields, PART[kind]);
}

const formatsOf = (text: CallText): [type: string, parts: Iterable<string>][] =>
  "lines" in text
    ? [
        ["text/vtt; charset=utf-8", toWebVtt(text)],
        ["application/json", toTranscriptJson(text)],
      ]
    : [["text/plain; charset=utf-8", [text.text]]];

/** With the path of the recording in the API: a download URL would soon expire. */
function documentOfRecording(
  { call }: CallRecord,
  recording: Recording,
  { ofCall, subject, address }: Names,
): Entry {
  const { id, started_at, duration, size, ended_at, updated_at } = recording;
  const end = started_at !== null && duration !== null ? started_at + duration : null;
  const attachment = {
    url: address + pathOfRecording(call, recording),
    ...(size !== null && size <= MAX_SIZE && { size }),
  };
  return updateOf("DocumentReference", ofCall(`recording-${id}`), {
    masterIdentifier: ofCall(`recording-${id}/1`),
    status: "current",
    type: { text: "Recording of the call" },
    ...subject,
    date: toTimestamp(ended_at ?? updated_at),
    content: [{ attachment }],
    context: { encounter: [ENCOUNTER], ...(started_at !== null && { period: periodOf(started_at, end) }) },
  });
}

/** R4 has no identifier for a Provenance: its target and its time identify it. */
function provenanceOf(text: CallText, { name, ofCall }: Names): Entry[] {
  const target = [{ type: "DocumentReference", reference: nameInBundle(PART[text.kind]) }];
  const by = (time: number, activity: string, type: string, who: object): Entry => {
    const recorded = toTimestamp(time);
    const agent = [{ type: coded(`${HL7}/provenance-participant-type`, type), who }];
    const fields = { target, recorded, activity: coded(`${HL7}/v3-DataOperation`, activity), agent };
    const ifNoneExist = `target:DocumentReference.identifier=${searchFor(ofCall(text.kind))}&recorded=${recorded}`;
    return {
      resource: { resourceType: "Provenance", ...fields },
      request: { method: "POST", url: "Provenance", ifNoneExist },
    };
  };
  return [
    by(text.created_at, "CREATE", "assembler", { display: "Software" }),
    ...text.corrected.map(({ created_at, user_id }) =>
      by(created_at, "UPDATE", "author", { identifier: name("organization_user", user_id) }),
    ),
  ];
}

import { base64Of } from "../../bytes/base64.ts";
import { toTimestamp } from "../../http/wire.ts";
import { toTranscriptJson } from "../../results/transcripts/transcripts.schemas.ts";
import { toWebVtt } from "../../results/transcripts/transcripts.webvtt.ts";
import { type CallRecord, pathOfRecording } from "../call_records/call_records.service.ts";

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

type Identifier = Record<"system" | "value", string>;
type Participant = CallRecord["participants"][number];
type CallText = NonNullable<CallRecord["transcript"] | CallRecord["soap_note"]>;
type Named = ReturnType<typeof withNames>;

export function fhirBundleOf(record: CallRecord) {
  const { participants, transcript, soap_note, recordings } = record;
  const named = withNames(record);
  const texts = [soap_note, transcript].filter((text) => text !== undefined);
  return {
    resourceType: "Bundle",
    type: "transaction",
    entry: [
      encounterOf(named),
      ...participants.filter(hasReference).flatMap((each) => consentOf(each, named)),
      ...texts.map((text) => documentOfText(text, named)),
      ...recordings.map((recording) => documentOfRecording(recording, named)),
      ...texts.flatMap((text) => provenanceOf(text, named)),
    ],
  };
}

/** Adds the identifiers of the service's own things, and the patient's. */
function withNames(record: CallRecord) {
  const { call, participants, address } = record;
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
    ...record,
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

function encounterOf({ call, participants, name, subject }: Named): Entry {
  const participant = participants.map(({ role, joined_at, left_at, user_id, display_name }) => ({
    type: [{ ...coded(`${HL7}/v3-ParticipationType`, role === "provider" ? "PPRF" : "PART"), text: role }],
    ...((joined_at ?? left_at) !== null && { period: periodOf(joined_at, left_at) }),
    individual: {
      ...(user_id !== null && { identifier: name("organization_user", user_id) }),
      display: plain(display_name),
    },
  }));
  const organization = name("organization", call.organization_id);
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
      identifier: organization,
      display: plain(call.organization_name),
    },
  };
  return updateOf("Encounter", name("call", call.id), fields, 0);
}

function consentOf(participant: Participant, { ofCall, patientOf }: Named): Entry[] {
  const { id, consent } = participant;
  if (!consent) return [];
  const type = consent.decision === "granted" ? "permit" : "deny";
  const fields = {
    status: "active",
    scope: coded(`${HL7}/consentscope`, "patient-privacy"),
    category: [coded(LOINC, "59284-0")],
    patient: patientOf(participant),
    dateTime: toTimestamp(consent.decided_at),
    policyRule: { text: "The recording of the call" },
    ...(consent.method !== null && { sourceAttachment: { title: plain(consent.method) } }),
    provision: { type, data: [{ meaning: "related", reference: ENCOUNTER }] },
  };
  return [updateOf("Consent", ofCall(`consent/${id}`), fields)];
}

function documentOf(
  kind: string,
  version: number,
  fields: object,
  { ofCall, subject }: Named,
  part?: number,
) {
  const masterIdentifier = ofCall(`${kind}/${version}`);
  const known = { masterIdentifier, status: "current", ...subject, context: { encounter: [ENCOUNTER] } };
  return updateOf("DocumentReference", ofCall(kind), { ...known, ...fields }, part);
}

function documentOfText(text: CallText, named: Named): Entry {
  const { kind, is_final, corrections, updated_at } = text;
  const formats: Record<string, Iterable<string>> = "lines" in text
    ? { "text/vtt; charset=utf-8": toWebVtt(text), "application/json": toTranscriptJson(text) }
    : { "text/plain; charset=utf-8": [text.text] };
  const finished = corrections > 0 ? "amended" : "final";
  const fields = {
    docStatus: is_final ? finished : "preliminary",
    type: kind === "soap_note" ? coded(LOINC, "11506-3") : { text: "Transcript of the call" },
    date: toTimestamp(updated_at),
    content: Object.entries(formats).map(([contentType, parts]) => ({
      attachment: { contentType, data: base64Of(new TextEncoder().encode([...parts].join(""))) },
    })),
  };
  return documentOf(kind, corrections + 1, fields, named, PART[kind]);
}

/** With the path of the recording in the API: a download URL would soon expire. */
function documentOfRecording(recording: CallRecord["recordings"][number], named: Named): Entry {
  const { id, started_at, duration, size, ended_at, updated_at } = recording;
  const end = started_at !== null && duration !== null ? started_at + duration : null;
  const url = named.address + pathOfRecording(named, recording);
  const fields = {
    type: { text: "Recording of the call" },
    date: toTimestamp(ended_at ?? updated_at),
    content: [{ attachment: { url, ...(size !== null && size <= MAX_SIZE && { size }) } }],
    context: { encounter: [ENCOUNTER], ...(started_at !== null && { period: periodOf(started_at, end) }) },
  };
  return documentOf(`recording-${id}`, 1, fields, named);
}

/** R4 has no identifier for a Provenance: its target and its time identify it. */
function provenanceOf({ kind, created_at, corrected }: CallText, { name, ofCall }: Named): Entry[] {
  const target = [{ type: "DocumentReference", reference: nameInBundle(PART[kind]) }];
  const by = (time: number, code: string, role: string, who: object): Entry => {
    const recorded = toTimestamp(time);
    const activity = coded(`${HL7}/v3-DataOperation`, code);
    const agent = [{ type: coded(`${HL7}/provenance-participant-type`, role), who }];
    const ifNoneExist = `target:DocumentReference.identifier=${searchFor(ofCall(kind))}&recorded=${recorded}`;
    return {
      resource: { resourceType: "Provenance", target, recorded, activity, agent },
      request: { method: "POST", url: "Provenance", ifNoneExist },
    };
  };
  return [
    by(created_at, "CREATE", "assembler", { display: "Software" }),
    ...corrected.map(({ created_at, user_id }) =>
      by(created_at, "UPDATE", "author", { identifier: name("organization_user", user_id) }),
    ),
  ];
}

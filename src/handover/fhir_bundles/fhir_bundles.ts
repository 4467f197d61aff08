import { base64Of } from "../../bytes/base64.ts";
import { toTimestamp } from "../../http/wire.ts";
import { toTranscriptJson } from "../../results/transcripts/transcripts.schemas.ts";
import { toWebVtt } from "../../results/transcripts/transcripts.webvtt.ts";
import { type CallRecord, pathOfRecording } from "../call_records/call_records.schemas.ts";

/*
 * A call as a transaction for a FHIR server (R4, http://hl7.org/fhir/R4). Every resource is written by a conditional update, so that a
 * later bundle updates what an earlier one made.
 */

const HL7 = "http://terminology.hl7.org/CodeSystem";
const LOINC = "http://loinc.org";

/** The largest unsignedInt of FHIR. Files can be larger. */
const MAX_SIZE = 2 ** 31 - 1;

interface Entry {
  fullUrl?: string;
  resource: { resourceType: string };
  request: { method: "PUT" | "POST"; url: string; ifNoneExist?: string };
}

interface Identifier {
  system: string;
  value: string;
}

/** @param address of this service: see `addressOf` */
export function fhirBundleOf(record: CallRecord, { address }: { address: string }) {
  const names = namesOf(record, address);
  return {
    resourceType: "Bundle",
    type: "transaction",
    entry: [
      encounterOf(record, names),
      ...consentsOf(record, names),
      ...documentsOf(record, names, address),
      ...provenanceOf(record, names),
    ],
  };
}

type Names = ReturnType<typeof namesOf>;

/** The identifiers of the service's own things, and references by them. */
function namesOf({ call }: CallRecord, address: string) {
  const identify = (kind: string, value: number | string): Identifier => ({
    system: `${address}/identifiers/${kind}`,
    value: String(value),
  });
  const patients =
    call.patient_identifier_system ?? `${address}/identifiers/${call.organization_slug}/patient`;
  const encounter = identify("call", call.id);
  return {
    encounter,
    identify,
    ofCall: (part: string) => identify("call", `${call.id}/${part}`),
    patientOf: ({ external_reference, display_name }: Participant & { external_reference: string }) => ({
      type: "Patient",
      identifier: { system: patients, value: external_reference },
      display: plain(display_name),
    }),
  };
}

type Participant = CallRecord["participants"][number];

const hasReference = (each: Participant): each is Participant & { external_reference: string } =>
  each.external_reference !== null;

const searchFor = ({ system, value }: Identifier) => encodeURIComponent(`${system}|${value}`);

/** A server replaces references to the name by references to what the entry made or updated. */
const nameInBundle = (part: number) =>
  `urn:uuid:00000000-0000-8000-8000-${part.toString(16).padStart(12, "0")}`;

const ENCOUNTER = { type: "Encounter", reference: nameInBundle(0) };

const PART = { transcript: 1, soap_note: 2 };

const updateOf = <Resource extends { resourceType: string }>(
  identifier: Identifier,
  resource: Resource,
  part?: number,
): Entry => ({
  ...(part !== undefined && { fullUrl: nameInBundle(part) }),
  resource,
  request: { method: "PUT", url: `${resource.resourceType}?identifier=${searchFor(identifier)}` },
});

const coded = (system: string, code: string, display?: string) => ({
  coding: [{ system, code, ...(display && { display }) }],
});

/** Omits an end before the start, which FHIR refuses. */
const periodOf = (start: number | null, end: number | null) => ({
  ...(start !== null && { start: toTimestamp(start) }),
  ...(end !== null && end >= (start ?? end) && { end: toTimestamp(end) }),
});

/** FHIR allows no white space but these four characters. */
const plain = (text: string) => text.replace(/[^ \r\n\t\S]/g, " ");

/** The patient, if exactly one recipient has a reference. */
function patientOf({ participants }: CallRecord, names: Names) {
  const [patient, ...others] = participants.filter(({ role }) => role === "recipient").filter(hasReference);
  return patient && others.length === 0 ? { subject: names.patientOf(patient) } : {};
}

function encounterOf(record: CallRecord, names: Names): Entry {
  const { call, participants } = record;
  return updateOf(
    names.encounter,
    {
      resourceType: "Encounter",
      identifier: [names.encounter],
      status: call.ended_at === null ? "in-progress" : "finished",
      class: { system: `${HL7}/v3-ActCode`, code: "VR", display: "virtual" },
      type: [coded("http://snomed.info/sct", "453131000124105")],
      ...patientOf(record, names),
      ...(participants.length > 0 && { participant: participants.map((each) => participantOf(each, names)) }),
      period: periodOf(call.started_at, call.ended_at),
      location: [{ location: { display: plain(call.room_name) } }],
      serviceProvider: {
        type: "Organization",
        identifier: names.identify("organization", call.organization_id),
        display: plain(call.organization_name),
      },
    },
    0,
  );
}

function participantOf({ role, joined_at, left_at, user_id, display_name }: Participant, names: Names) {
  const type =
    role === "provider"
      ? coded(`${HL7}/v3-ParticipationType`, "PPRF", "primary performer")
      : coded(`${HL7}/v3-ParticipationType`, "PART", "Participation");
  return {
    type: [{ ...type, text: role }],
    ...((joined_at ?? left_at) !== null && { period: periodOf(joined_at, left_at) }),
    individual: {
      ...(user_id !== null && { identifier: names.identify("organization_user", user_id) }),
      display: plain(display_name),
    },
  };
}

const consentsOf = ({ participants, decisions }: CallRecord, names: Names): Entry[] =>
  participants.filter(hasReference).flatMap((participant) => {
    const decided = decisions.find(({ participant_id }) => participant_id === participant.id);
    if (!decided) return [];
    const identifier = names.ofCall(`consent/${participant.id}`);
    return updateOf(identifier, {
      resourceType: "Consent",
      identifier: [identifier],
      status: "active",
      scope: coded(`${HL7}/consentscope`, "patient-privacy", "Privacy Consent"),
      category: [coded(LOINC, "59284-0", "Consent Document")],
      patient: names.patientOf(participant),
      dateTime: toTimestamp(decided.decided_at),
      policyRule: { text: "The recording of the call" },
      ...(decided.method !== null && { sourceAttachment: { title: plain(decided.method) } }),
      provision: {
        type: decided.decision === "granted" ? "permit" : "deny",
        data: [{ meaning: "related", reference: ENCOUNTER }],
      },
    });
  });

type CallTextOfRecord = NonNullable<CallRecord["transcript"] | CallRecord["soap_note"]>;

const textsOf = ({ transcript, soap_note }: CallRecord): CallTextOfRecord[] =>
  [transcript, soap_note].filter((text) => text !== undefined);

function documentsOf(record: CallRecord, names: Names, address: string): Entry[] {
  const { call, transcript, soap_note, recordings } = record;
  const documentOf = (
    kind: string,
    version: number,
    date: number,
    rest: object,
    context = {},
    part?: number,
  ) => {
    const identifier = names.ofCall(kind);
    return updateOf(
      identifier,
      {
        resourceType: "DocumentReference",
        masterIdentifier: names.ofCall(`${kind}/${version}`),
        identifier: [identifier],
        status: "current",
        ...patientOf(record, names),
        date: toTimestamp(date),
        ...rest,
        context: { encounter: [ENCOUNTER], ...context },
      },
      part,
    );
  };
  const ofText = (text: CallTextOfRecord, type: object, content: object[]) =>
    documentOf(
      text.kind,
      text.corrections + 1,
      text.updated_at,
      {
        docStatus: docStatusOf(text),
        type,
        content: content.map((attachment) => ({ attachment })),
      },
      {},
      PART[text.kind],
    );
  return [
    ...(soap_note
      ? [
          ofText(soap_note, coded(LOINC, "11506-3", "Progress note"), [
            inline("text/plain; charset=utf-8", [soap_note.text]),
          ]),
        ]
      : []),
    ...(transcript
      ? [
          ofText(transcript, { text: "Transcript of the call" }, [
            inline("text/vtt; charset=utf-8", toWebVtt(transcript)),
            inline("application/json", toTranscriptJson(transcript)),
          ]),
        ]
      : []),
    ...recordings.map((recording) => {
      const { id, started_at, duration, size, ended_at, updated_at } = recording;
      const end = started_at !== null && duration !== null ? started_at + duration : null;
      return documentOf(
        `recording-${id}`,
        1,
        ended_at ?? updated_at,
        {
          type: { text: "Recording of the call" },
          content: [
            {
              attachment: {
                url: address + pathOfRecording(call, recording),
                ...(size !== null && size <= MAX_SIZE && { size }),
              },
            },
          ],
        },
        started_at === null ? {} : { period: periodOf(started_at, end) },
      );
    }),
  ];
}

const docStatusOf = ({ is_final, corrections }: CallTextOfRecord) => {
  if (!is_final) return "preliminary";
  return corrections > 0 ? "amended" : "final";
};

const inline = (contentType: string, parts: Iterable<string>) => ({
  contentType,
  data: base64Of(new TextEncoder().encode([...parts].join(""))),
});

/** R4 has no identifier for a Provenance, so its target and time identify it. */
const provenanceOf = (record: CallRecord, names: Names): Entry[] =>
  textsOf(record).flatMap((text) => {
    const identifier = names.ofCall(text.kind);
    const by = (recorded: number, activity: string, type: string, who: object): Entry => {
      const time = toTimestamp(recorded);
      return {
        resource: {
          resourceType: "Provenance",
          target: [{ type: "DocumentReference", reference: nameInBundle(PART[text.kind]) }],
          recorded: time,
          activity: coded(`${HL7}/v3-DataOperation`, activity),
          agent: [{ type: coded(`${HL7}/provenance-participant-type`, type), who }],
        } as Entry["resource"],
        request: {
          method: "POST",
          url: "Provenance",
          ifNoneExist: `target:DocumentReference.identifier=${searchFor(identifier)}&recorded=${time}`,
        },
      };
    };
    return [
      by(text.created_at, "CREATE", "assembler", { display: "Software" }),
      ...record.corrections
        .filter(({ text_id }) => text_id === text.id)
        .map(({ created_at, user_id }) =>
          by(created_at, "UPDATE", "author", { identifier: names.identify("organization_user", user_id) }),
        ),
    ];
  });

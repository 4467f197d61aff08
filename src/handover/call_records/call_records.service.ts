import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { reachedCall } from "../../calls/calls/calls.sql.ts";
import type { Consent } from "../../calls/consents/consents.schemas.ts";
import { consentsOfPath } from "../../calls/consents/consents.sql.ts";
import { participantsOfPath } from "../../calls/participants/participants.sql.ts";
import type { ClientContext } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runBatch } from "../../database/queries.ts";
import { hasOneOf } from "../../http/roles.ts";
import { includesScope } from "../../http/scopes.ts";
import { CORRECTORS } from "../../organization/roles/roles.policy.ts";
import { egressesOfPath } from "../../results/egresses/egresses.sql.ts";
import { storedLines } from "../../results/transcripts/transcripts.document.ts";
import { lengthOf } from "../../results/transcripts/transcripts.schemas.ts";
import { type listEntries, recordedCall, textsEntries, textsOfRecord } from "./call_records.sql.ts";

export const FHIR = "application/fhir+json";
export const VCON = "application/vcon+json";
export const VCON_JWS = "application/vcon+jws";

/** Everything about a call that its standard forms show. */
export type CallRecord = Awaited<ReturnType<typeof requireCallRecord>>;

/**
 * Reads a call and everything about it that the client's scopes and roles let it read as JSON too. The same batch writes an entry for each
 * text.
 *
 * @param entries write the other entries of the read
 */
export async function requireCallRecord(context: ClientContext, path: CallPath, entries: typeof listEntries) {
  const { db, caller, settings, url } = context;
  const reads_results = includesScope(caller.scopes, "results:read");
  const of = { ...reachedCall(caller, path), reads_results, reads_versions: hasOneOf(caller, CORRECTORS) };
  const [[call], people, consents, texts, egresses, ofTexts, ...others] = await runBatch(db, [
    recordedCall(of),
    participantsOfPath(of),
    consentsOfPath(of),
    textsOfRecord(of),
    egressesOfPath(of),
    textsEntries(context, "read", of),
    ...entries.map((entry) => entry(context, "read", of)),
  ]);
  if (!call) throw callNotFound();
  if (ofTexts.length !== texts.length) throw new Error("The read of a text left no entry in the access log");
  others.forEach(requireEntry);
  const transcript = texts.find(({ kind }) => kind === "transcript");
  const note = texts.find(({ kind }) => kind === "soap_note");
  // A form cannot say that a file is missing or was deleted.
  const hasFile = ({ storage_key, status }: (typeof egresses)[number]) =>
    storage_key !== null && status !== EGRESS_DELETED;
  return {
    /** The address of this service, with which its identifiers begin. */
    address: settings.PUBLIC_URL?.replace(/\/+$/, "") ?? new URL(url).origin,
    call,
    participants: people.map((each) => ({ ...each, consent: countingConsent(each, consents) })),
    transcript: transcript && {
      ...transcript,
      lines: await storedLines(transcript, transcript),
      names: new Map(people.map(({ id, display_name }) => [id, display_name])),
    },
    soap_note: note && { ...note, text: note.text ?? "" },
    recordings: reads_results ? egresses.filter(hasFile) : [],
  };
}

/**
 * The participant's decision on being recorded that counts: the latest with the result of the triggers (see
 * recording_consents.triggers.sql), for which an observer's grant without a time counts least.
 */
export function countingConsent(
  { id, recording_consent }: { id: number; recording_consent: boolean | null },
  consents: Consent[],
): Consent | undefined {
  const decision = recording_consent ? "granted" : "refused";
  const same = consents.filter((each) => each.participant_id === id && each.decision === decision);
  const isDated = ({ reporter, said_at }: Consent) => reporter !== "observer" || said_at !== null;
  return (recording_consent && same.findLast(isDated)) || same.at(-1);
}

/** About how long a form of the record is, in characters: Base64 makes the texts a third longer. */
export const lengthOfRecord = ({ transcript, soap_note }: CallRecord): number =>
  ((transcript ? lengthOf(transcript) : 0) + (soap_note?.text.length ?? 0)) * (4 / 3);

/** The path of a recording in the external API: a GET returns its download URL. */
export const pathOfRecording = ({ call }: CallRecord, { id }: { id: number }): string =>
  `/api/external/organization_users/${call.organization_user_id}/calls/${call.id}/egresses/${id}`;

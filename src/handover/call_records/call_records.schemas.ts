import type { ShownParticipant } from "../../calls/participants/participants.schemas.ts";
import type { Egress } from "../../results/egresses/egresses.schemas.ts";
import type { SoapNote } from "../../results/soap_notes/soap_notes.schemas.ts";
import { lengthOf, type StoredTranscript } from "../../results/transcripts/transcripts.schemas.ts";
import type { Correction, CountingDecision, RecordedCall } from "./call_records.sql.ts";

export const FHIR = "application/fhir+json";
export const VCON = "application/vcon+json";
export const VCON_JWS = "application/vcon+jws";

interface Corrected {
  /** The corrections in their order; none if the client may not read earlier versions. */
  corrected: Correction[];
}

/** Everything about a call that its standard forms show. */
export interface CallRecord {
  call: RecordedCall;
  participants: ShownParticipant[];
  /** The decision of each participant on being recorded that counts. */
  decisions: CountingDecision[];
  transcript: (StoredTranscript & Corrected) | undefined;
  /** Only a final note. */
  soap_note: (SoapNote & Corrected) | undefined;
  recordings: Egress[];
}

/** About how long a form of the record is, in characters: Base64 makes the texts a third longer. */
export const lengthOfRecord = ({ transcript, soap_note }: CallRecord): number =>
  ((transcript ? lengthOf(transcript) : 0) + (soap_note?.text.length ?? 0)) * (4 / 3);

/** The path of a recording in the external API: a GET returns its download URL. */
export const pathOfRecording = (
  { id, organization_user_id }: { id: number; organization_user_id: number },
  recording: { id: number },
): string => `/api/external/organization_users/${organization_user_id}/calls/${id}/egresses/${recording.id}`;

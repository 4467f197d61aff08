import { lengthOf } from "../../results/transcripts/transcripts.schemas.ts";
import type { CallRecord } from "./call_records.service.ts";

export const FHIR = "application/fhir+json";
export const VCON = "application/vcon+json";
export const VCON_JWS = "application/vcon+jws";

/** About how long a form of the record is, in characters: Base64 makes the texts a third longer. */
export const lengthOfRecord = ({ transcript, soap_note }: CallRecord): number =>
  ((transcript ? lengthOf(transcript) : 0) + (soap_note?.text.length ?? 0)) * (4 / 3);

/** The path of a recording in the external API: a GET returns its download URL. */
export const pathOfRecording = ({ call }: CallRecord, { id }: { id: number }): string =>
  `/api/external/organization_users/${call.organization_user_id}/calls/${call.id}/egresses/${id}`;

import { NOBODY } from "../../../src/calls/participants/participants.merge.ts";
import type { Participant } from "../../../src/calls/participants/participants.schemas.ts";

/** The fields of a new call that no report sets. */
export const CALL_AS_MADE = {
  transcript_deleted_at: null,
  soap_note_deleted_at: null,
  reference_erased_at: null,
  hold_id: null,
  hold_began_at: null,
  hold_begun_by: null,
  hold_reason: null,
  hold_ended_at: null,
};

export const RITA: Participant = {
  ...NOBODY,
  id: 301,
  organization_id: 1,
  key: "rita",
  waiting_room_id: 7,
  user_id: null,
  display_name: "Rita",
  role: "recipient",
  external_reference: null,
  waiting_since: 100,
  joined_at: null,
  left_at: null,
  earlier_stay_until: null,
  assumed: null,
  cleared: null,
  reported_at: 0,
  created_at: 0,
  updated_at: 0,
};

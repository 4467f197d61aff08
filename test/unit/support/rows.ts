import { NOBODY } from "../../../src/calls/participants/participants.merge.ts";
import type { Participant, ParticipantRow } from "../../../src/calls/participants/participants.schemas.ts";
import type { Person, PersonRow } from "../../../src/rooms/people/people.sql.ts";

/** The fields of a new call that no report sets. */
export const CALL_AS_MADE = {
  visit_holder_id: null,
  transcript_deleted_at: null,
  soap_note_deleted_at: null,
  recordings_deleted_at: null,
  reference_erased_at: null,
  hold_id: null,
  hold_began_at: null,
  hold_begun_by: null,
  hold_reason: null,
  hold_ended_at: null,
};

/** A participant with the fields of their record. */
export type Known = Participant &
  Pick<Person, "display_name" | "role" | "user_id" | "external_reference" | "assumed"> & {
    /** `cleared` of the record. */
    cleared_words: string | null;
  };

export const personOf = (known: Known): Person => ({
  id: known.person_id,
  organization_id: known.organization_id,
  visit_id: null,
  number: null,
  display_name: known.display_name,
  role: known.role,
  user_id: known.user_id,
  external_reference: known.external_reference,
  said: null,
  cleared: known.cleared_words,
  assumed: known.assumed,
  reported_at: known.reported_at,
  erased_at: known.erased_at,
  created_at: 0,
  updated_at: 0,
});

export const withPerson = <Row extends ParticipantRow>(row: Row, person: PersonRow) => ({
  ...row,
  display_name: person.display_name,
  role: person.role,
  user_id: person.user_id,
  external_reference: person.external_reference,
  assumed: person.assumed,
  cleared_words: person.cleared,
});

/** The changed participants, with the fields of their records. */
export const changed = (next: { participants: ParticipantRow[]; people: PersonRow[] }, known: Known[]) =>
  next.participants.map((row) => {
    const added = next.people.filter(({ id }) => id === undefined);
    const records = [...next.people, ...known.map(personOf)];
    const person =
      row.person_id > 0
        ? records.find(({ id }) => id === row.person_id)
        : added[added.length - 1 + row.person_id];
    if (!person) throw new Error("The participant has no record");
    return withPerson(row, person);
  });

export const RITA: Known = {
  ...NOBODY,
  id: 301,
  person_id: 301,
  cleared_words: null,
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

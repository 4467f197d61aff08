const COLUMNS = ["id", "organization_id", "key", "waiting_room_id", "call_id", "visit_id"];
const TIMES = ["waiting_since", "joined_at", "left_at", "created_at", "updated_at"];
const newOf = (names: string[]) => names.map((name) => `new.${name}`);

/**
 * A view through which tests insert many participants, each with a record of their own. Without a `reference_digest`, no request finds
 * the `external_reference`.
 */
export const RECORDED_PARTICIPANTS = [
  `create view if not exists recorded_participants as
   select participants.*, display_name, role, external_reference from participants join people on people.id = person_id`,
  `create trigger if not exists recorded_participants_inserted instead of insert on recorded_participants begin
     insert into people (organization_id, display_name, role, external_reference, reference_digest, created_at, updated_at)
     values (new.organization_id, new.display_name, new.role, new.external_reference,
       coalesce(new.reference_digest, 'of ' || new.external_reference), new.created_at, new.updated_at);
     insert into participants (person_id, ${[...COLUMNS, ...TIMES]})
     values ((select max(id) from people), ${newOf([...COLUMNS, ...TIMES])});
   end`,
];

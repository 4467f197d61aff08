import type { DatabaseSync } from "node:sqlite";
import { DAY, HOUR } from "../../../src/units.ts";
import { RECORDED_PARTICIPANTS } from "../../support/recorded_participants.ts";

const START = Date.parse("2026-01-30T22:30:00Z");

const callColumns =
  "id, organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed, created_at, updated_at";

/**
 * Fills a migrated database with rows in varied states, then changes, moves and deletes some, so that every trigger
 * that maintains data has something to do.
 */
export function writeVariedRows(database: DatabaseSync) {
  for (const statement of RECORDED_PARTICIPANTS) database.exec(statement);
  for (const organization_id of [1, 2]) {
    const id = (n: number) => organization_id * 100 + n;
    const gone = organization_id + 90;
    const stamps = `${START}, ${START}`;
    database.exec(`
      create temp table numbers as
        with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 24)
        select n, ${id(0)} + n as id, ${START} + n * ${HOUR} as at from counter;
      insert into places (id, slug, shard) values (${organization_id}, 'place-${organization_id}', 0), (${gone}, 'place-${gone}', 0);
      insert into organizations (id, name, slug, created_at, updated_at) values
        (${organization_id}, 'clinic', 'clinic-${organization_id}', ${stamps}), (${gone}, 'gone', 'gone-${organization_id}', ${stamps});
      insert into issuers (id, organization_id, issuer, audience, jwks_url, email_claim, created_at, updated_at)
        select id, ${organization_id}, 'https://idp-' || n || '.example.org', 'video-visits', 'https://idp.example.org/jwks', 'email', ${stamps}
        from numbers where n <= 2;
      insert into organization_users (id, organization_id, email, display_name, roles, created_at, updated_at)
        select id, ${organization_id}, id || '@example.org', 'Paula Provider', '["provider"]', ${stamps} from numbers where n <= 4;
      insert into api_clients (id, organization_id, organization_user_id, name, client_id, secret_digest, secret_hint, created_at, updated_at)
        select id, ${organization_id}, id, 'Integration', 'client-' || id, '', 'hint', ${stamps} from numbers where n <= 4;
      insert into waiting_rooms (id, organization_id, name, name_key, slug, theme, is_active, retired_at, created_at, updated_at)
        select id, ${organization_id}, 'Room', 'room', 'room-' || id, 'default', n % 2, iif(n = 4, ${START}, null), ${stamps}
        from numbers where n <= 4;
      insert into invites (id, organization_id, created_by_user_id, email, display_name, roles, expires_at, used_at, created_at, updated_at)
        select id, ${organization_id}, ${id(1)}, id || '@example.org', 'Ines Invitee', '[]', ${START + DAY}, iif(n = 3, ${START}, null), ${stamps}
        from numbers where n <= 4;
      insert into calls (${callColumns})
        select id, ${organization_id}, 'call-' || id, ${id(1)} + n % 3, ${id(1)} + n % 3, at, iif(n % 4, at + n * 1000, null), n % 5 = 0, ${stamps}
        from numbers;
      insert into recorded_participants (id, organization_id, key, waiting_room_id, call_id, display_name, role, waiting_since, joined_at,
          created_at, updated_at)
        select id * 10 + place, ${organization_id}, 'participant-' || id || '-' || place, ${id(1)} + n % 3, iif(n % 6, id, null), 'Rita Recipient',
          role, iif(n % 7, at - n * 2000, null), iif(n % 2, at + iif(n % 3, 500, -n * 3000), null), ${stamps}
        from numbers, (select 0 as place, 'recipient' as role union all values (1, 'recipient'), (2, 'provider'));
      -- Some participants decide once, some change their mind, and some reports come late or at the same time.
      insert into consents (organization_id, participant_id, reporter, decision, decided_at, reported_at, created_at)
        select ${organization_id}, id * 10 + 1, iif(turn < 2, 'platform', 'observer'), decision,
          at + iif(n % 3, iif(n % 2, turn, 2 - turn), 0) * 1000, at + turn * 1000, at + turn * 1000
        from numbers join (select 0 as turn, 'granted' as decision union all values (1, 'refused'), (2, 'granted')) on turn < n % 4;
      insert into visits (id, organization_id, waiting_room_id, organization_user_id, status, starts_at, ends_at, last_participant_id,
          created_at, updated_at)
        select id, ${organization_id}, ${id(1)}, iif(n % 2, ${id(1)}, null), iif(n % 9, 'planned', 'cancelled'), at, at + 1000, 1, ${stamps}
        from numbers;
      insert into people (organization_id, visit_id, number, display_name, role, external_reference, reference_digest, created_at, updated_at)
        select ${organization_id}, id, 1, 'Rita Recipient', 'recipient', reference, reference, ${stamps}
        from (select id, iif(n % 2, 'patient-' || n, null) as reference from numbers);
      insert into egresses (id, organization_id, call_id, egress_id, status, is_stopped, created_at, updated_at)
        select id, ${organization_id}, iif(n % 7, id, null), 'egress-' || id, 'egress_starting', 0, ${stamps} from numbers;
      insert into call_texts (id, organization_id, call_id, kind, lines_digest, text, is_final, created_at, updated_at)
        select id, ${organization_id}, id, 'transcript', '', null, 1, ${stamps} from numbers where n % 5
        union all select id * 10 + 1, ${organization_id}, id, 'soap_note', null, 'Well.', 1, ${stamps} from numbers where n % 5;
      insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at)
        select ${organization_id}, id, 'read', ${id(1)}, ${START} from numbers where n % 3;
      drop table numbers;
      -- Recordings that LiveKit reported before their call.
      update egresses set call_id = id where call_id is null;
      update egresses set status = 'egress_ended', is_stopped = 1, ended_at = 9 where id % 2 = 1;
      -- Members who get and lose roles.
      update organization_users set roles = '["provider_assistant", "provider"]' where id = ${id(1)};
      update organization_users set roles = '["organization_admin"]' where id = ${id(2)};
      update organization_users set roles = '[]' where id = ${id(3)};
      update organization_users set assists_changes = 1 where id = ${id(4)};
      update organizations set name = 'renamed' where id = ${organization_id};
      -- Rooms and invites that leave their lists and come back.
      update waiting_rooms set theme = 'calm' where id = ${id(3)};
      update waiting_rooms set retired_at = 5 where id = ${id(1)};
      update waiting_rooms set retired_at = 5 where id = ${id(2)};
      update waiting_rooms set retired_at = null where id = ${id(2)};
      update waiting_rooms set retired_at = 6 where id = ${id(1)};
      update waiting_rooms set retired_at = 5 where id = ${id(3)};
      update invites set used_at = 5 where id in (${id(1)}, ${id(2)});
      update invites set used_at = null where id in (${id(2)}, ${id(3)});
      update invites set used_at = 6 where id = ${id(4)};
      delete from invites where id = ${id(3)};
      -- Calls under legal hold, and results that arrive later.
      insert into legal_holds (organization_id, call_id, begun_by, began_at)
        select organization_id, id, iif(id % 2, 'platform', 'organization'), 5 from calls where id % 3 = 0 and organization_id = ${organization_id};
      update legal_holds set ended_at = 6
        where call_id % 6 = 0 and organization_id = ${organization_id};
      insert into call_texts (organization_id, call_id, kind, text, is_final, created_at, updated_at)
        select organization_id, id, 'soap_note', 'Late.', 0, 9, 9 from calls where id % 5 = 0 and organization_id = ${organization_id};
      -- Texts that were corrected.
      insert into call_text_versions (organization_id, text_id, version, text, lines, reason, user_id, created_at)
        select organization_id, id, 1, text, iif(text is null, '[[7,"Before."]]', null), 'Misheard', ${id(1)}, 9
        from call_texts where is_final and call_id % 2 = 1 and organization_id = ${organization_id};
      update call_texts set corrections = 1 where id in (select text_id from call_text_versions);
      insert into access_logs (organization_id, at, event, resource, call_id, user_id)
        select organization_id, 9, 'delete', 'soap_note', call_id, 1 from call_texts
        where kind = 'soap_note' and call_id % 10 = 5;
      delete from call_texts where kind = 'soap_note' and call_id % 10 = 5;
      -- Calls that are corrected, moved to another user or day, or deleted.
      update calls set organization_user_id = ${id(3)} where id in (${id(1)}, ${id(4)});
      update calls set organization_user_id = organization_user_id where id = ${id(2)};
      update calls set started_at = started_at + ${DAY}, ended_at = ended_at + ${DAY} where id % 8 = 1;
      update calls set ended_at = started_at + 7000 where ended_at is null and id % 8 = 0;
      update calls set ended_at = started_at + 8000, end_is_assumed = 1 where ended_at is null and id % 12 = 4;
      update calls set end_is_assumed = 1 - end_is_assumed where id % 7 = 3;
      update calls set failed = 1 - failed where id % 9 = 2;
      update participants set call_id = ${id(8)} where call_id = ${id(7)};
      update participants set call_id = null where call_id = ${id(9)};
      update participants set call_id = ${id(10)} where call_id is null and id % 10 = 1;
      update people set role = 'recipient'
        where role = 'provider' and id in (select person_id from participants where call_id % 4 = 1);
      update people set role = 'provider'
        where role = 'recipient' and id in (select person_id from participants where call_id % 4 = 3);
      update participants set waiting_since = ${START} where waiting_since is null and id % 10 = 0;
      update participants set joined_at = ${START + DAY} where call_id = ${id(11)};
      delete from participants where id % 10 = 2 and call_id % 3 = 0;
      delete from people where visit_id is null and id not in (select person_id from participants);
      insert into calls (${callColumns})
        select ${id(50)}, organization_id, 'call-${id(50)}', organization_user_id, waiting_room_id, started_at + ${400 * DAY}, ended_at, failed, created_at, updated_at from calls where id = ${id(2)};
      delete from calls where id = ${id(50)};
      insert into calls (${callColumns})
        select ${id(51)}, organization_id, 'call-${id(51)}', organization_user_id, waiting_room_id, started_at, ended_at, failed, created_at, updated_at from calls where id = ${id(2)};
      delete from calls where id = ${id(51)};
      -- Visits that change their date, their holder and their status, or lose their holder.
      update visits set starts_at = starts_at + ${DAY} where id % 5 = 1;
      update visits set organization_user_id = ${id(3)} where id % 7 = 2 and organization_id = ${organization_id};
      update visits set organization_user_id = null where id % 7 = 3;
      update visits set status = 'started' where id % 4 = 0;
      update visits set status = 'missed' where status = 'planned' and id % 6 = 1;
      update visits set status = 'ended' where status = 'started' and id % 8 = 0;
      update visits set ends_at = ends_at + ${DAY} where id % 5 = 2;
      -- People whose reference changes, and who are erased.
      update people set external_reference = 'new', reference_digest = 'new' where visit_id % 5 = 1;
      update people set external_reference = null, reference_digest = null, erased_at = 7 where visit_id % 5 = 3;
      update participants set erased_at = 7 where call_id = ${id(13)};
      update people set erased_at = 7 where id in (select person_id from participants where call_id = ${id(13)});
      update visits set status = 'cancelled' where status = 'planned' and id % 6 = 3;
      -- Participants who used the link of a visit, some before they were on a call.
      update participants set visit_id = ${id(1)} where call_id = ${id(10)};
      insert into recorded_participants (organization_id, key, waiting_room_id, call_id, visit_id, display_name, role, created_at, updated_at)
        select organization_id, 'visit-' || id, waiting_room_id, id, iif(id = ${id(3)}, ${id(2)}, ${id(3)}), 'Rita Recipient', 'recipient', 9, 9
        from calls where id in (${id(3)}, ${id(5)});
      update calls set ended_at = ended_at + 1000 where id = ${id(5)};
      -- Revoked clients stay in their list.
      update api_clients set revoked_at = 5 where id = ${id(1)};
      delete from api_clients where id = ${id(2)};
      delete from issuers where id = ${id(1)};
      -- Users, rooms and organizations that are deleted for good.
      delete from organizations where id = ${gone};
      update places set deleted_at = 5 where id = ${gone};
      insert into organization_users (id, organization_id, email, display_name, roles, created_at, updated_at)
        values (${id(90)}, ${organization_id}, 'gone-${id(90)}@example.org', 'Gone', '["provider"]', 0, 0);
      delete from organization_users where id = ${id(90)};
    `);
  }
  database.exec("drop view recorded_participants");
}

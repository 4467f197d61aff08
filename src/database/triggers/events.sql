-- An event is written in the transaction of the change that it describes, whatever code makes the change: so triggers
-- write it. `data` holds ids, and of a sealed day its date and digest; nothing else. `created_at` is the time that the
-- changed row has of the change; the deletion of a row leaves none, so there it is the clock of the database. A report that
-- changes nothing updates no row, or updates it to what it was, and so writes no event.

-- A call that is first reported when it has ended gives both its events.
CREATE TRIGGER `events_call_started` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'call.started',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at);
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'call.ended',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at
  WHERE new.ended_at IS NOT NULL;
END;

-- Transcripts and SOAP notes can be read from the end of the call on. Final ones may be reported before it. A reported end
-- that replaces an assumed one is a change, also where it is the same time. The erasure of a reference is none.
CREATE TRIGGER `events_call_updated`
AFTER UPDATE OF organization_user_id, external_reference, failed, ended_at, end_is_assumed ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type,
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.updated_at
  FROM (
    SELECT 'call.updated' AS type
    WHERE old.organization_user_id <> new.organization_user_id
      OR coalesce(old.failed, 0) <> coalesce(new.failed, 0)
      OR (old.external_reference IS NOT new.external_reference AND new.reference_erased_at IS NULL)
      OR (old.ended_at IS NOT NULL
        AND (old.ended_at IS NOT new.ended_at OR old.end_is_assumed <> new.end_is_assumed))
    UNION ALL
    SELECT value FROM json_each(iif(old.ended_at IS NULL AND new.ended_at IS NOT NULL, json_array(
      'call.ended',
      (SELECT 'transcript.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'transcript' AND is_final),
      (SELECT 'soap_note.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'soap_note' AND is_final)
    ), '[]')) WHERE value IS NOT NULL
  );
END;

-- A text has become final, and its call has ended.
CREATE TRIGGER `events_call_text_created` AFTER INSERT ON `call_texts` WHEN new.is_final
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || '.finalized',
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;

-- Only a final text whose call has ended is corrected.
CREATE TRIGGER `events_call_text_updated` AFTER UPDATE OF is_final, corrections ON `call_texts`
WHEN (new.is_final AND NOT old.is_final) OR new.corrections > old.corrections
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || iif(new.corrections > old.corrections, '.corrected', '.finalized'),
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;

-- `egress_id` is what the external API calls the egress: the id of its row.
CREATE TRIGGER `events_egress_started` AFTER INSERT ON `egresses`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'egress.started', json_object('organization_user_id', organization_user_id,
    'call_id', new.call_id, 'egress_id', new.id), new.created_at
  FROM calls WHERE id = new.call_id;
  INSERT INTO events_recordings SELECT new.call_id, new.created_at WHERE new.status = 'egress_ended';
END;

CREATE TRIGGER `events_egress_updated` AFTER UPDATE OF status ON `egresses`
WHEN old.status <> new.status AND new.status IN ('egress_ended', 'egress_deleted')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'egress.deleted',
    json_object('organization_user_id', organization_user_id, 'call_id', new.call_id, 'egress_id', new.id),
    new.updated_at
  FROM calls WHERE id = new.call_id AND new.status = 'egress_deleted';
  INSERT INTO events_recordings SELECT new.call_id, new.updated_at WHERE new.status = 'egress_ended';
END;

-- `egress.ended` comes when the recording can be seen, so a later consent can bring it (egress_visibility.sql).
-- A procedure, which SQLite does not have: the view stores nothing; an insert writes the events of a call's recordings
-- that can be seen now. A report that ends a call inserts a row after everything else (calls.sql.ts), when all
-- participants are known.
CREATE VIEW `events_recordings` AS
SELECT NULL AS call_id, NULL AS at;

CREATE TRIGGER `events_recording` INSTEAD OF INSERT ON `events_recordings`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT calls.organization_id, 'egress.ended', json_object('organization_user_id', organization_user_id,
    'call_id', calls.id, 'egress_id', visible_recordings.id), new.at
  FROM visible_recordings JOIN calls ON calls.id = call_id
  WHERE call_id = new.call_id AND status = 'egress_ended' AND NOT is_announced
  ORDER BY visible_recordings.id;
  UPDATE egresses SET is_announced = 1
  WHERE id IN (
    SELECT id FROM visible_recordings WHERE call_id = new.call_id AND status = 'egress_ended' AND NOT is_announced
  );
END;

CREATE TRIGGER `events_recording_consented` AFTER UPDATE OF recording_consent ON `participants`
WHEN new.recording_consent AND new.call_id IS NOT NULL
BEGIN
  INSERT INTO events_recordings VALUES (new.call_id, new.updated_at);
END;

-- With which times events are written is decided in participants.stays.ts.
-- A procedure, which SQLite does not have: the view stores nothing; an insert writes an event of a participant, with the
-- ids that there are.
CREATE VIEW `events_of_participants` AS
SELECT NULL AS type, NULL AS participant_id;

CREATE TRIGGER `events_of_participant` INSTEAD OF INSERT ON `events_of_participants`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.type, json_patch('{}', json_object(
    'waiting_room_id', waiting_room_id, 'participant_id', id, 'call_id', call_id,
    'organization_user_id', (SELECT organization_user_id FROM calls WHERE calls.id = call_id))), updated_at
  FROM participants WHERE id = new.participant_id;
END;

CREATE TRIGGER `events_participant_created` AFTER INSERT ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id FROM (
    SELECT 'participant.waiting' AS type WHERE new.waiting_event_at IS NOT NULL
    UNION ALL SELECT 'participant.joined' WHERE new.joined_event_at IS NOT NULL
    UNION ALL SELECT 'participant.left' WHERE new.left_event_at IS NOT NULL
  );
END;

-- A time has an event where none of the same stay was known. Who goes to another room waits there.
CREATE TRIGGER `events_participant_updated`
AFTER UPDATE OF waiting_room_id, waiting_event_at, joined_event_at, left_event_at ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id FROM (
    SELECT 'participant.waiting' AS type, new.waiting_event_at AS time,
      iif(old.waiting_room_id = new.waiting_room_id OR new.call_id IS NOT NULL, old.waiting_event_at, NULL) AS known
    UNION ALL SELECT 'participant.joined', new.joined_event_at, old.joined_event_at
    UNION ALL SELECT 'participant.left', new.left_event_at, old.left_event_at
  )
  WHERE time IS NOT NULL
    AND (known IS NULL OR (known <= new.earlier_left_event_at AND time > new.earlier_left_event_at));
END;

CREATE TRIGGER `events_consent_withdrawn` AFTER UPDATE OF recording_consent ON `participants`
WHEN old.recording_consent AND NOT new.recording_consent
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'consent.withdrawn', json_object('organization_user_id', organization_user_id,
    'call_id', new.call_id, 'participant_id', new.id), new.updated_at
  FROM calls WHERE id = new.call_id;
END;

CREATE TRIGGER `events_invite_created` AFTER INSERT ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'invite.created', json_object('invite_id', new.id), new.created_at);
END;

-- What becomes of a mail is no change of the invite, so its row has no time of it.
CREATE TRIGGER `events_invite_updated` AFTER UPDATE OF mail_status, used_at ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type, json_object('invite_id', new.id), at
  FROM (
    SELECT 'invite.mail_failed' AS type, cast(unixepoch('subsec') * 1000 AS INTEGER) AS at
    WHERE old.mail_status <> 'failed' AND new.mail_status = 'failed'
    UNION ALL
    SELECT 'invite.accepted', new.used_at WHERE old.used_at IS NULL AND new.used_at IS NOT NULL
  );
END;

CREATE TRIGGER `events_bulk_invite_completed` AFTER UPDATE OF completed_at ON `bulk_invites`
WHEN old.completed_at IS NULL AND new.completed_at IS NOT NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'bulk_invite.completed', json_object('bulk_invite_id', new.id), new.completed_at);
END;

-- A removed member keeps the row, without roles.
CREATE TRIGGER `events_organization_user_created` AFTER INSERT ON `organization_users` WHEN new.roles <> '[]'
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'organization_user.added', json_object('organization_user_id', new.id),
    new.created_at);
END;

CREATE TRIGGER `events_organization_user_updated` AFTER UPDATE OF roles ON `organization_users`
WHEN (old.roles = '[]') <> (new.roles = '[]')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id,
    iif(new.roles = '[]', 'organization_user.removed', 'organization_user.added'),
    json_object('organization_user_id', new.id), new.updated_at);
END;

CREATE TRIGGER `events_waiting_room_sub_created` AFTER INSERT ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.created_at);
END;

CREATE TRIGGER `events_waiting_room_sub_updated`
AFTER UPDATE OF user_id, datetime_start, datetime_end ON `waiting_room_subs`
WHEN old.user_id IS NOT new.user_id
  OR old.datetime_start <> new.datetime_start
  OR old.datetime_end <> new.datetime_end
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.updated_at);
END;

CREATE TRIGGER `events_waiting_room_sub_deleted` AFTER DELETE ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (old.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', old.waiting_room_id, 'waiting_room_sub_id', old.id),
    cast(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- Receivers hold the head of the chain of seals, where nobody here can change it.
CREATE TRIGGER `events_access_log_sealed` AFTER INSERT ON `access_log_seals`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'access_log.sealed',
    json_object('date', new.date, 'seal_sha256', new.jws_sha256), new.created_at);
END;

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert writes an event of a participant, with
-- the ids that are not null.
CREATE VIEW `events_of_participants` AS
SELECT NULL AS type, NULL AS participant_id, NULL AS at;

CREATE TRIGGER `events_of_participant` INSTEAD OF INSERT ON `events_of_participants`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.type, json_patch('{}', json_object(
    'waiting_room_id', waiting_room_id, 'participant_id', id, 'call_id', call_id,
    'organization_user_id', (SELECT organization_user_id FROM calls WHERE calls.id = call_id))), new.at
  FROM participants WHERE id = new.participant_id;
END;

CREATE TRIGGER `events_participant_created` AFTER INSERT ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id, new.updated_at FROM (
    SELECT 'participant.waiting' AS type
    WHERE new.waiting_since IS NOT NULL AND (new.joined_at IS NULL OR new.joined_at > new.waiting_since)
    UNION ALL SELECT 'participant.joined' WHERE new.joined_at IS NOT NULL
    UNION ALL SELECT 'participant.left' WHERE new.left_at IS NOT NULL
  );
END;

-- A time gets an event when it is first known, and when it belongs to a new stay, which began after the known one had ended. A
-- corrected time gets none. A participant who changes rooms waits again. Joining after an assumed end is a correction.
CREATE TRIGGER `events_participant_updated` AFTER UPDATE OF waiting_room_id, waiting_since, joined_at, left_at ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id, new.updated_at FROM (
    SELECT 'participant.waiting' AS type, new.waiting_since AS time, new.waiting_since AS since,
      iif(old.waiting_room_id = new.waiting_room_id OR new.call_id IS NOT NULL, old.waiting_since, NULL) AS known
    WHERE new.joined_at IS NULL OR new.joined_at > new.waiting_since
    UNION ALL SELECT 'participant.joined', new.joined_at, iif(old.left_is_assumed, NULL, new.joined_at), old.joined_at
    UNION ALL SELECT 'participant.left', new.left_at,
      max(coalesce(new.waiting_since, 0), iif(old.left_is_assumed, 0, coalesce(new.joined_at, 0))), old.left_at
  )
  WHERE time IS NOT NULL AND (known IS NULL OR since > old.left_at);
END;

CREATE TRIGGER `events_consent_withdrawn` AFTER UPDATE OF recording_consent ON `participants`
WHEN old.recording_consent AND NOT new.recording_consent
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'consent.withdrawn', json_object('organization_user_id', organization_user_id,
    'call_id', new.call_id, 'participant_id', new.id), new.updated_at
  FROM calls WHERE id = new.call_id;
END;

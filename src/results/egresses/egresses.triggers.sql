-- The recordings that can be seen, in lists, counts, reads, logs and events: the call has ended, has at least one participant, and
-- all its participants consented. A refusal by somebody who is not on the call yet counts too.
CREATE VIEW `visible_recordings` AS
SELECT egresses.id, egresses.call_id, egresses.status, egresses.is_announced
FROM egresses JOIN calls ON calls.id = egresses.call_id
WHERE calls.ended_at IS NOT NULL
  -- A recording that came to the call after the deletion of the call's recordings.
  AND (calls.recordings_deleted_at IS NULL OR egresses.created_at < calls.recordings_deleted_at)
  -- The lowest value in the index, which sorts NULL before 0, and 0 before 1. Without participants, it is NULL too.
  AND (
    SELECT recording_consent FROM participants
    WHERE participants.call_id = egresses.call_id
    ORDER BY recording_consent LIMIT 1
  )
  AND NOT EXISTS (
    SELECT 1 FROM early_refusals
    WHERE early_refusals.organization_id = calls.organization_id AND early_refusals.call_key = calls.key AND came
  );

-- An egress may be seen before anybody has reported its call. When the call is reported, it takes the egresses that wait for its key. Their audit logs and events begin then (dev/audit_triggers.ts, and below).
CREATE TRIGGER `egresses_of_call_claimed` AFTER INSERT ON `calls`
BEGIN
  UPDATE egresses SET call_id = new.id, updated_at = new.created_at
  WHERE organization_id = new.organization_id AND call_key = new.key AND call_id IS NULL;
END;

-- A refusal stops the recording: when somebody on a call refuses, its running egresses become due to be stopped. So does an egress that is added to a call on which somebody has refused.
CREATE TRIGGER `egress_stops_refused` AFTER UPDATE OF recording_consent, call_id ON `participants`
WHEN new.recording_consent = 0 AND new.call_id IS NOT NULL
  AND (old.recording_consent IS NOT new.recording_consent OR old.call_id IS NOT new.call_id)
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at
  WHERE call_id = new.call_id AND NOT is_stopped AND status IN ('egress_starting', 'egress_active');
END;

CREATE TRIGGER `egress_stops_inserted` AFTER INSERT ON `egresses`
WHEN new.status IN ('egress_starting', 'egress_active') AND NOT new.is_stopped
  AND (
    EXISTS (SELECT 1 FROM participants WHERE call_id = new.call_id AND recording_consent = 0)
    OR EXISTS (
      SELECT 1 FROM early_refusals
      WHERE organization_id = new.organization_id AND came
        AND call_key IN (new.call_key, (SELECT key FROM calls WHERE calls.id = new.call_id))
    )
  )
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at WHERE id = new.id;
END;

CREATE TRIGGER `egress_stops_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NOT new.call_id AND new.status IN ('egress_starting', 'egress_active') AND NOT new.is_stopped
  AND EXISTS (SELECT 1 FROM participants WHERE call_id = new.call_id AND recording_consent = 0)
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at WHERE id = new.id;
END;

-- A deletion past retention leaves a tombstone on the call. The deletion of one recording on request leaves none.
CREATE TRIGGER `egresses_deleted` AFTER UPDATE OF status ON `egresses`
WHEN new.status = 'egress_deleted' AND old.status <> 'egress_deleted' AND old.deletion_requested_by IS NULL
BEGIN
  UPDATE calls SET recordings_deleted_at = new.updated_at WHERE id = new.call_id AND recordings_deleted_at IS NULL;
END;

-- Deleted results of a call stay deleted: the cron deletes the files of a recording that is first reported afterwards, or that LiveKit
-- reported before without its call. Such a recording counts as created when it came to the call.
CREATE TRIGGER `egresses_not_restored` AFTER INSERT ON `egresses`
WHEN (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  UPDATE egresses SET deletion_due_at = new.created_at WHERE id = new.id;
END;

CREATE TRIGGER `egresses_not_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL AND (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  UPDATE egresses SET deletion_due_at = new.updated_at, created_at = new.updated_at WHERE id = new.id;
END;

-- In events, `egress_id` is the id of the egress's row, as in the external API. An egress has events once it has a call.
-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert writes the events of an egress that is new to its call.
CREATE VIEW `events_new_egresses` AS
SELECT NULL AS egress_id, NULL AS at;

CREATE TRIGGER `events_new_egress` INSTEAD OF INSERT ON `events_new_egresses`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT calls.organization_id, 'egress.started', json_object('organization_user_id', organization_user_id,
    'call_id', calls.id, 'egress_id', egresses.id), new.at
  FROM egresses JOIN calls ON calls.id = egresses.call_id WHERE egresses.id = new.egress_id;
  INSERT INTO events_recordings SELECT call_id, new.at FROM egresses WHERE id = new.egress_id AND status = 'egress_ended';
END;

CREATE TRIGGER `events_egress_started` AFTER INSERT ON `egresses`
BEGIN
  INSERT INTO events_new_egresses VALUES (new.id, new.created_at);
END;

CREATE TRIGGER `events_egress_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL AND (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NULL
BEGIN
  INSERT INTO events_new_egresses VALUES (new.id, new.updated_at);
END;

CREATE TRIGGER `events_egress_updated` AFTER UPDATE OF status ON `egresses`
WHEN old.call_id IS NOT NULL AND old.status <> new.status AND new.status IN ('egress_ended', 'egress_deleted')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'egress.deleted',
    json_object('organization_user_id', organization_user_id, 'call_id', new.call_id, 'egress_id', new.id),
    new.updated_at
  FROM calls WHERE id = new.call_id AND new.status = 'egress_deleted';
  INSERT INTO events_recordings SELECT new.call_id, new.updated_at WHERE new.status = 'egress_ended';
END;

-- `egress.ended` is written when the recording can be seen, so a later consent can cause it (see the last trigger).
-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert writes the events of a call's recordings that
-- can be seen now. A report that ends a call inserts a row after everything else (calls.sql.ts), when all participants are known.
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

-- Recordings, transcripts and SOAP notes are deleted some days after their call has ended, and never under legal hold. So
-- each of these rows has a copy of both, in the indexes with which the cron finds what to delete. A call's hold and what
-- it protects change in one transaction.

-- What has a copy: nothing but the rebuild's test reads it.
CREATE VIEW `retention` AS
SELECT 'egress' AS result, id, call_id, call_ended_at, is_held FROM egresses
UNION ALL SELECT 'transcript', id, call_id, call_ended_at, is_held FROM transcripts
UNION ALL SELECT 'soap_note', id, call_id, call_ended_at, is_held FROM soap_notes;

CREATE TRIGGER `calls_retention_updated` AFTER UPDATE OF ended_at, legal_hold ON `calls`
WHEN old.ended_at IS NOT new.ended_at OR old.legal_hold <> new.legal_hold
BEGIN
  UPDATE egresses SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
  UPDATE transcripts SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
  UPDATE soap_notes SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
END;

CREATE TRIGGER `egresses_retention_inserted` AFTER INSERT ON `egresses`
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

CREATE TRIGGER `transcripts_retention_inserted` AFTER INSERT ON `transcripts`
BEGIN
  UPDATE transcripts SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

CREATE TRIGGER `soap_notes_retention_inserted` AFTER INSERT ON `soap_notes`
BEGIN
  UPDATE soap_notes SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

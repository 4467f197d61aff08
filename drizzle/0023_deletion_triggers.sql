-- Written by `npm run db:triggers`. The reasons are in src/database/triggers.
--> statement-breakpoint
CREATE TRIGGER `transcripts_deletion_audited` AFTER DELETE ON `transcripts`
BEGIN
  INSERT INTO deletion_audit_logs (organization_id, call_id, subject, subject_id, created_at)
  VALUES (old.organization_id, old.call_id, 'transcript', old.id, cast(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER `soap_notes_deletion_audited` AFTER DELETE ON `soap_notes`
BEGIN
  INSERT INTO deletion_audit_logs (organization_id, call_id, subject, subject_id, created_at)
  VALUES (old.organization_id, old.call_id, 'soap_note', old.id, cast(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER `deletion_audit_logs_unchanged` BEFORE UPDATE ON `deletion_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `deletion_audit_logs_kept` BEFORE DELETE ON `deletion_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `deletion_audit_logs_not_replaced` BEFORE INSERT ON `deletion_audit_logs`
WHEN EXISTS (SELECT 1 FROM deletion_audit_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_file_replaced` AFTER UPDATE OF storage_key ON `egresses`
WHEN old.storage_key IS NOT NULL AND old.storage_key IS NOT new.storage_key
BEGIN
  INSERT INTO replaced_files (organization_id, egress_id, storage_key)
  VALUES (new.organization_id, new.id, old.storage_key)
  ON CONFLICT DO NOTHING;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_file_late` AFTER UPDATE OF storage_key ON `egresses`
WHEN new.status = 'egress_deleted' AND old.storage_key IS NOT new.storage_key
BEGIN
  UPDATE egresses SET deletion_requested = true, deletion_due_at = 0 WHERE id = new.id;
END;
--> statement-breakpoint
CREATE VIEW `retention` AS
SELECT 'egress' AS result, id, call_id, call_ended_at, is_held FROM egresses
UNION ALL SELECT 'transcript', id, call_id, call_ended_at, is_held FROM transcripts
UNION ALL SELECT 'soap_note', id, call_id, call_ended_at, is_held FROM soap_notes;
--> statement-breakpoint
CREATE TRIGGER `calls_retention_updated` AFTER UPDATE OF ended_at, legal_hold ON `calls`
WHEN old.ended_at IS NOT new.ended_at OR old.legal_hold <> new.legal_hold
BEGIN
  UPDATE egresses SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
  UPDATE transcripts SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
  UPDATE soap_notes SET call_ended_at = new.ended_at, is_held = new.legal_hold WHERE call_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_retention_inserted` AFTER INSERT ON `egresses`
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `transcripts_retention_inserted` AFTER INSERT ON `transcripts`
BEGIN
  UPDATE transcripts SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `soap_notes_retention_inserted` AFTER INSERT ON `soap_notes`
BEGIN
  UPDATE soap_notes SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
-- Copies the end and the legal hold of every call again.
UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = egresses.call_id);

UPDATE transcripts SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = transcripts.call_id);

UPDATE soap_notes SET (call_ended_at, is_held) = (SELECT ended_at, legal_hold FROM calls WHERE id = soap_notes.call_id);

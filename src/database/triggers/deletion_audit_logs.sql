-- No transcript and no SOAP note is deleted without an entry, whatever code does it: so triggers write the entries. They
-- hold only ids. The time is that of the database, because a DELETE cannot bring one along.

CREATE TRIGGER `transcripts_deletion_audited` AFTER DELETE ON `transcripts`
BEGIN
  INSERT INTO deletion_audit_logs (organization_id, call_id, subject, subject_id, created_at)
  VALUES (old.organization_id, old.call_id, 'transcript', old.id, cast(unixepoch('subsec') * 1000 AS INTEGER));
END;

CREATE TRIGGER `soap_notes_deletion_audited` AFTER DELETE ON `soap_notes`
BEGIN
  INSERT INTO deletion_audit_logs (organization_id, call_id, subject, subject_id, created_at)
  VALUES (old.organization_id, old.call_id, 'soap_note', old.id, cast(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- Entries are never changed or deleted.
CREATE TRIGGER `deletion_audit_logs_unchanged` BEFORE UPDATE ON `deletion_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;

CREATE TRIGGER `deletion_audit_logs_kept` BEFORE DELETE ON `deletion_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never deleted');
END;

-- INSERT OR REPLACE deletes the old row without firing a DELETE trigger.
CREATE TRIGGER `deletion_audit_logs_not_replaced` BEFORE INSERT ON `deletion_audit_logs`
WHEN EXISTS (SELECT 1 FROM deletion_audit_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;

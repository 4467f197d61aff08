-- Entries are never changed.
CREATE TRIGGER `access_logs_unchanged` BEFORE UPDATE ON `access_logs`
BEGIN
  SELECT raise(ABORT, 'entries of the access log are never changed');
END;

-- INSERT OR REPLACE deletes the old row without firing a DELETE trigger.
CREATE TRIGGER `access_logs_not_replaced` BEFORE INSERT ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'entries of the access log are never changed');
END;

-- Where days are sealed, no entry goes before its day was.
CREATE TRIGGER `access_logs_kept` BEFORE DELETE ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id)
  AND NOT EXISTS (
    SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id AND last_id >= old.id
  )
BEGIN
  SELECT raise(ABORT, 'entries of the access log are kept until their day is sealed');
END;

CREATE TRIGGER `access_log_seals_unchanged` BEFORE UPDATE ON `access_log_seals`
BEGIN
  SELECT raise(ABORT, 'seals are never changed');
END;

CREATE TRIGGER `access_log_seals_kept` BEFORE DELETE ON `access_log_seals`
BEGIN
  SELECT raise(ABORT, 'seals are never deleted');
END;

-- A seal goes on where the one before it ended: no entry is in two of them.
CREATE TRIGGER `access_log_seals_chained` BEFORE INSERT ON `access_log_seals`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE id = new.id)
  OR (
    SELECT (last.last_id >= new.first_id OR last.date >= new.date OR last.jws_sha256 IS NOT new.previous)
    FROM access_log_seals AS last WHERE organization_id = new.organization_id ORDER BY last_id DESC LIMIT 1
  )
  OR (new.previous IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = new.organization_id))
BEGIN
  SELECT raise(ABORT, 'a seal follows the one before it');
END;

-- No text is deleted without its entry, whatever code does it. A text that was deleted does not come back, so an entry of the
-- call is always that of its only text.
CREATE TRIGGER `transcripts_deletion_recorded` BEFORE DELETE ON `transcripts`
WHEN NOT EXISTS (
  SELECT 1 FROM access_logs
  WHERE organization_id = old.organization_id AND call_id = old.call_id
    AND resource = 'transcript' AND event = 'delete'
)
BEGIN
  SELECT raise(ABORT, 'a transcript is deleted with an entry of the access log');
END;

CREATE TRIGGER `soap_notes_deletion_recorded` BEFORE DELETE ON `soap_notes`
WHEN NOT EXISTS (
  SELECT 1 FROM access_logs
  WHERE organization_id = old.organization_id AND call_id = old.call_id
    AND resource = 'soap_note' AND event = 'delete'
)
BEGIN
  SELECT raise(ABORT, 'a SOAP note is deleted with an entry of the access log');
END;

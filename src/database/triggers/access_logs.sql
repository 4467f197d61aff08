-- Where days are sealed, no entry goes before its day was.
CREATE TRIGGER `access_logs_kept` BEFORE DELETE ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id)
  AND NOT EXISTS (
    SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id AND last_id >= old.id
  )
BEGIN
  SELECT raise(ABORT, 'entries of the access log are kept until their day is sealed');
END;

-- A seal goes on where the one before it ended: no entry is in two of them.
CREATE TRIGGER `access_log_seals_chained` BEFORE INSERT ON `access_log_seals`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE id = new.id) OR new.last_id < new.first_id
  OR (
    SELECT (last.last_id >= new.first_id OR last.date >= new.date OR last.jws_sha256 IS NOT new.previous)
    FROM access_log_seals AS last WHERE organization_id = new.organization_id ORDER BY last_id DESC LIMIT 1
  )
  OR (new.previous IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = new.organization_id))
BEGIN
  SELECT raise(ABORT, 'a seal follows the one before it');
END;

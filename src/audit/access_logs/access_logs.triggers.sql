-- If the organization has seals, no entry is deleted before its day is sealed.
CREATE TRIGGER `access_logs_kept` BEFORE DELETE ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id)
  AND NOT EXISTS (
    SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id AND last_id >= old.id
  )
BEGIN
  SELECT raise(ABORT, 'entries of the access log are kept until their day is sealed');
END;

-- Each seal continues where the previous one ended, so no entry is in two seals.
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

-- Receivers of the event keep the digest of the newest seal where the operator cannot change it.
CREATE TRIGGER `events_access_log_sealed` AFTER INSERT ON `access_log_seals`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'access_log.sealed',
    json_object('date', new.date, 'seal_sha256', new.jws_sha256), new.created_at);
END;

-- Nothing was sent while the organization was suspended, so its endpoints have not failed in that time.
CREATE TRIGGER `webhook_endpoints_resumed` AFTER UPDATE OF is_suspended ON `organizations`
WHEN old.is_suspended AND NOT new.is_suspended
BEGIN
  UPDATE webhook_endpoints SET failing_since = NULL
  WHERE organization_id = new.id AND failing_since IS NOT NULL;
END;

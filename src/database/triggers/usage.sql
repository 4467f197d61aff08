-- What an organization stores in a UTC day is bounded, since one client within its rate could fill the database of all. What goes
-- beyond is refused with these texts (resources/usage/usage.refusals.ts), and limits.ts has the numbers too. Of the access log only
-- what clients do counts: what retention deletes, and the platform changes, always has its entry, however much it is. So has what
-- clients delete, though it counts: they can only delete what was made.

CREATE TRIGGER `usage_of_access_log` AFTER INSERT ON `access_logs` WHEN new.api_client_id IS NOT NULL
BEGIN
  INSERT INTO organization_days (organization_id, date, access_log_entries)
  VALUES (new.organization_id, date(new.at / 1000, 'unixepoch'), 1)
  ON CONFLICT DO UPDATE SET access_log_entries = access_log_entries + 1;
  SELECT raise(ABORT, 'quota: access log entries') FROM organization_days
  WHERE organization_id = new.organization_id
    AND date = date(new.at / 1000, 'unixepoch') AND access_log_entries > 200000 AND new.event <> 'delete';
END;

CREATE TRIGGER `usage_writes_bounded` BEFORE UPDATE OF writes ON `organization_days` WHEN new.writes > 20000
BEGIN
  SELECT raise(ABORT, 'quota: writes');
END;

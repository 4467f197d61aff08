-- What an organization stores in a UTC day is bounded, since one client within its rate could fill the database of all; and one
-- client may use half of it (src/http/quotas.ts). What goes beyond is refused with these texts (resources/usage/usage.refusals.ts),
-- and limits.ts has the numbers too. The row whose api_client_id is 0 counts for all clients together.

CREATE TRIGGER `usage_of_access_log` AFTER INSERT ON `access_logs` WHEN new.is_counted
BEGIN
  INSERT INTO organization_days (organization_id, date, api_client_id, access_log_entries)
  VALUES
    (new.organization_id, date(new.at / 1000, 'unixepoch'), 0, 1),
    (new.organization_id, date(new.at / 1000, 'unixepoch'), new.api_client_id, 1)
  ON CONFLICT DO UPDATE SET access_log_entries = access_log_entries + 1;
END;

CREATE TRIGGER `usage_entries_bounded` AFTER UPDATE OF access_log_entries ON `organization_days`
WHEN new.access_log_entries > iif(new.api_client_id = 0, 200000, 100000)
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: access log entries', 'quota of a client: access log entries'));
END;

CREATE TRIGGER `usage_writes_bounded` AFTER UPDATE OF writes ON `organization_days`
WHEN new.writes > iif(new.api_client_id = 0, 20000, 10000)
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: writes', 'quota of a client: writes'));
END;

-- The access log of an organization has many entries, so they are counted as they are written: of its API clients together, and of
-- each. Only what clients cause counts: what retention deletes, and the platform changes, always has its entry, however much it is.
-- What is more than a quota is refused by the request that wrote it (src/http/quotas.ts).

CREATE TRIGGER `usage_of_access_log` AFTER INSERT ON `access_logs` WHEN new.api_client_id IS NOT NULL
BEGIN
  INSERT INTO organization_days (organization_id, date, api_client_id, access_log_entries)
  VALUES
    (new.organization_id, date(new.at / 1000, 'unixepoch'), 0, 1),
    (new.organization_id, date(new.at / 1000, 'unixepoch'), new.api_client_id, 1)
  ON CONFLICT DO UPDATE SET access_log_entries = access_log_entries + 1;
END;

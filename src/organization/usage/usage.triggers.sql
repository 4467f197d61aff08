-- The amount that an organization stores in a UTC day is limited, because a single client within its rate limit could fill the
-- database that all organizations share. One client may use half of its organization's limit, and some requests
-- have reserves (usage.quotas.ts, where `quota` has its values). usage.refusals.ts
-- recognizes the errors by their texts. The row whose api_client_id is 0 counts for all clients together.

CREATE TRIGGER `usage_of_access_log` AFTER INSERT ON `access_logs` WHEN new.quota = 1
BEGIN
  INSERT INTO organization_days (organization_id, date, api_client_id, access_log_entries)
  VALUES
    (new.organization_id, date(new.at / 1000, 'unixepoch'), 0, 1),
    (new.organization_id, date(new.at / 1000, 'unixepoch'), new.api_client_id, 1)
  ON CONFLICT DO UPDATE SET access_log_entries = access_log_entries + 1;
END;

CREATE TRIGGER `usage_entries_bounded` AFTER UPDATE OF access_log_entries ON `organization_days`
WHEN new.access_log_entries > iif(new.api_client_id = 0, {{MAX_DAILY_ACCESS_LOGS}}, {{MAX_DAILY_ACCESS_LOGS}} * {{CLIENT_FRACTION}})
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: access log entries', 'quota of a client: access log entries'));
END;

CREATE TRIGGER `usage_writes_bounded` AFTER UPDATE OF writes ON `organization_days`
WHEN new.writes > iif(new.api_client_id = 0, {{MAX_DAILY_WRITES}}, {{MAX_DAILY_WRITES}} * {{CLIENT_FRACTION}})
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: writes', 'quota of a client: writes'));
END;

CREATE TRIGGER `reserve_of_access_log` AFTER INSERT ON `access_logs` WHEN new.quota > 1
BEGIN
  INSERT INTO organization_days (organization_id, date, reserved)
  VALUES (new.organization_id, date(new.at / 1000, 'unixepoch'), 1)
  ON CONFLICT DO UPDATE SET reserved = reserved + 1;
END;

CREATE TRIGGER `sign_ins_bounded` BEFORE UPDATE OF sign_ins ON `organization_days` WHEN new.sign_ins > {{MAX_DAILY_SIGN_INS}}
BEGIN
  SELECT raise(ABORT, 'reserve: sign-ins');
END;

CREATE TRIGGER `reserved_bounded` BEFORE UPDATE OF reserved ON `organization_days` WHEN new.reserved > {{MAX_DAILY_RESERVED}}
BEGIN
  SELECT raise(ABORT, 'reserve: other requests');
END;

-- The mails of an organization in a UTC day are limited, so that the service cannot become a relay. The mails to one address have
-- their own limit (invite_mails.triggers.sql). usage.refusals.ts recognizes the errors by their texts.

CREATE TRIGGER `mails_bounded` BEFORE UPDATE OF mails ON `organization_days` WHEN new.mails > {{MAX_ORGANIZATION_MAILS}}
BEGIN
  SELECT raise(ABORT, 'quota: mails');
END;

CREATE TRIGGER `events_invite_created` AFTER INSERT ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'invite.created', json_object('invite_id', new.id), new.created_at);
END;

-- The result of a mail does not change the invite's `updated_at`, so its event gets the time of the database.
CREATE TRIGGER `events_invite_updated` AFTER UPDATE OF mail_status, used_at ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type, json_object('invite_id', new.id), at
  FROM (
    SELECT 'invite.mail_failed' AS type, cast(unixepoch('subsec') * 1000 AS INTEGER) AS at
    WHERE old.mail_status <> 'failed' AND new.mail_status = 'failed'
    UNION ALL
    SELECT 'invite.accepted', new.used_at WHERE old.used_at IS NULL AND new.used_at IS NOT NULL
  );
END;

CREATE TRIGGER `events_bulk_invite_completed` AFTER UPDATE OF completed_at ON `bulk_invites`
WHEN old.completed_at IS NULL AND new.completed_at IS NOT NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'bulk_invite.completed', json_object('bulk_invite_id', new.id), new.completed_at);
END;

-- A removed member's row is kept, without roles.
CREATE TRIGGER `events_organization_user_created` AFTER INSERT ON `organization_users` WHEN new.roles <> '[]'
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'organization_user.added', json_object('organization_user_id', new.id),
    new.created_at);
END;

CREATE TRIGGER `events_organization_user_changed`
AFTER UPDATE OF roles, display_name, email, assists_changes ON `organization_users`
WHEN (old.roles = '[]') = (new.roles = '[]')
  AND (old.roles <> new.roles OR old.display_name <> new.display_name OR old.email IS NOT new.email
    OR old.assists_changes <> new.assists_changes)
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'organization_user.updated', json_object('organization_user_id', new.id),
    new.updated_at);
END;

CREATE TRIGGER `events_organization_user_updated` AFTER UPDATE OF roles ON `organization_users`
WHEN (old.roles = '[]') <> (new.roles = '[]')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id,
    iif(new.roles = '[]', 'organization_user.removed', 'organization_user.added'),
    json_object('organization_user_id', new.id), new.updated_at);
END;

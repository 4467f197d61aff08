-- waiting_room_slugs records every slug that a room ever had. Its primary key refuses to give a room a slug that any room ever
-- had, even a retired room or the same room.
CREATE TRIGGER `waiting_room_slugs_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;

CREATE TRIGGER `waiting_room_slugs_renamed` AFTER UPDATE OF slug ON `waiting_rooms` WHEN new.slug <> old.slug
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;

CREATE TRIGGER `events_waiting_room_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room.created', json_object('waiting_room_id', new.id), new.created_at);
END;

-- A personal room is restored when its owner becomes a provider again. It is announced like a new room, because its retirement was
-- announced too.
CREATE TRIGGER `events_waiting_room_updated` AFTER UPDATE OF name, slug, theme, is_active, retired_at ON `waiting_rooms`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type, json_object('waiting_room_id', new.id), new.updated_at
  FROM (
    SELECT iif(new.retired_at IS NOT NULL, 'waiting_room.retired', 'waiting_room.created') AS type
    WHERE (old.retired_at IS NULL) <> (new.retired_at IS NULL)
    UNION ALL
    SELECT 'waiting_room.updated'
    WHERE old.retired_at IS NULL AND new.retired_at IS NULL
      AND (old.name <> new.name OR old.slug <> new.slug OR old.theme <> new.theme OR old.is_active <> new.is_active)
  );
END;

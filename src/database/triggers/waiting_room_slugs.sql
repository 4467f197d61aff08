-- waiting_room_slugs records every slug that a room ever had. The primary key fails the write that gives a room the
-- slug of another room, also of one that is retired or has another slug now.
CREATE TRIGGER `waiting_room_slugs_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;

-- A room can get back a slug that it had before.
CREATE TRIGGER `waiting_room_slugs_renamed` AFTER UPDATE OF slug ON `waiting_rooms`
WHEN new.slug <> old.slug
  AND NOT EXISTS (SELECT 1 FROM waiting_room_slugs WHERE slug = new.slug AND waiting_room_id = new.id)
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;

-- Of each run of numbers without a gap, the last slug keeps the next number.
CREATE TRIGGER `waiting_room_slugs_numbered` AFTER INSERT ON `waiting_room_slugs` WHEN new.number > 1
BEGIN
  UPDATE waiting_room_slugs SET next_number = NULL WHERE slug = new.stem || '-' || (new.number - 1);
  UPDATE waiting_room_slugs SET next_number = new.number + 1
  WHERE slug = new.slug
    AND NOT EXISTS (SELECT 1 FROM waiting_room_slugs WHERE slug = new.stem || '-' || (new.number + 1));
END;

-- waiting_room_slugs records every slug that a room ever had. The primary key fails the write that gives a room a slug
-- which any room ever had, also one that is retired, and also the room itself.
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

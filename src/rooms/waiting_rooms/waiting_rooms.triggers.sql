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

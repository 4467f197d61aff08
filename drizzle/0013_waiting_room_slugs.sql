CREATE TABLE `waiting_room_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`number` integer GENERATED ALWAYS AS (iif(rtrim(slug, '0123456789') glob '*-' and substr(slug, length(rtrim(slug, '0123456789')) + 1) glob '[1-9]*' and length(substr(slug, length(rtrim(slug, '0123456789')) + 1)) < 10,
          cast(substr(slug, length(rtrim(slug, '0123456789')) + 1) as integer), 1)) VIRTUAL NOT NULL,
	`stem` text GENERATED ALWAYS AS (iif(number = 1, slug, substr(slug, 1, length(slug) - length(number) - 1))) VIRTUAL NOT NULL,
	`next_number` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `waiting_room_slugs_of_room` ON `waiting_room_slugs` (`waiting_room_id`,`stem`,`number`);--> statement-breakpoint
CREATE INDEX `waiting_room_slugs_next` ON `waiting_room_slugs` (`stem`,`next_number`) WHERE next_number is not null;
--> statement-breakpoint
CREATE TRIGGER `waiting_room_slugs_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_room_slugs_renamed` AFTER UPDATE OF slug ON `waiting_rooms`
WHEN new.slug <> old.slug
  AND NOT EXISTS (SELECT 1 FROM waiting_room_slugs WHERE slug = new.slug AND waiting_room_id = new.id)
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_room_slugs_numbered` AFTER INSERT ON `waiting_room_slugs` WHEN new.number > 1
BEGIN
  UPDATE waiting_room_slugs SET next_number = NULL WHERE slug = new.stem || '-' || (new.number - 1);
  UPDATE waiting_room_slugs SET next_number = new.number + 1
  WHERE slug = new.slug
    AND NOT EXISTS (SELECT 1 FROM waiting_room_slugs WHERE slug = new.stem || '-' || (new.number + 1));
END;
--> statement-breakpoint
-- The slugs that rooms have now, as they are. A slug that a retired room left to another one belongs to the other one.
INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
SELECT slug, organization_id, id FROM waiting_rooms WHERE true
ORDER BY retired_at IS NOT NULL, retired_at DESC, id DESC
ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- Only providers have personal rooms. Those of others are retired, if they are not in use.
UPDATE waiting_rooms
SET retired_at = cast(unixepoch('subsec') * 1000 AS integer), updated_at = cast(unixepoch('subsec') * 1000 AS integer)
WHERE user_id IS NOT NULL AND retired_at IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM organization_users AS owner, json_each(owner.roles) AS role
    WHERE owner.organization_id = waiting_rooms.organization_id AND owner.user_id = waiting_rooms.user_id
      AND role.value = 'provider')
  AND NOT EXISTS (SELECT 1 FROM participants WHERE waiting_room_id = waiting_rooms.id AND left_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM calls WHERE waiting_room_id = waiting_rooms.id AND ended_at IS NULL);
--> statement-breakpoint
-- Their owners are nobody's substitute any more.
UPDATE waiting_room_subs SET user_id = NULL, updated_at = cast(unixepoch('subsec') * 1000 AS integer)
WHERE datetime_end > unixepoch('subsec') * 1000
  AND EXISTS (
    SELECT 1 FROM waiting_rooms AS room
    WHERE room.organization_id = waiting_room_subs.organization_id AND room.user_id = waiting_room_subs.user_id
      AND room.retired_at IS NOT NULL);

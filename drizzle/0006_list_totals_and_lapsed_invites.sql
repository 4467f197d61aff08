CREATE TABLE `list_totals` (
	`list` text NOT NULL,
	`owner_id` integer NOT NULL,
	`total` integer NOT NULL,
	PRIMARY KEY(`list`, `owner_id`)
);
--> statement-breakpoint
DROP INDEX `invites_listed`;--> statement-breakpoint
ALTER TABLE `invites` ADD `is_lapsed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `invites_by_expiry` ON `invites` (`expires_at`,`organization_id`) WHERE used_at is null and not is_lapsed;--> statement-breakpoint
CREATE INDEX `invites_listed` ON `invites` (`organization_id`,`id`,`expires_at`) WHERE used_at is null and not is_lapsed;
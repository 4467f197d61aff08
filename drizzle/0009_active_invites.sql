DROP INDEX `invites_unused`;--> statement-breakpoint
CREATE UNIQUE INDEX `invites_active` ON `invites` (`organization_id`,`email`) WHERE used_at is null and not is_lapsed;--> statement-breakpoint
CREATE INDEX `invites_pending` ON `invites` (`organization_id`,`email`) WHERE used_at is null;

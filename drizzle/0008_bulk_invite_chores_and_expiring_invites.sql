DROP INDEX `invites_by_expiry`;--> statement-breakpoint
CREATE INDEX `invites_expiring` ON `invites` (`organization_id`,`expires_at`) WHERE used_at is null and not is_lapsed;--> statement-breakpoint
CREATE INDEX `invites_by_expiry` ON `invites` (`expires_at`) WHERE used_at is null and not is_lapsed;--> statement-breakpoint
ALTER TABLE `bulk_invites` ADD `completed_at` integer;--> statement-breakpoint
ALTER TABLE `bulk_invites` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `bulk_invites_uncompleted` ON `bulk_invites` (`queued_at`) WHERE completed_at is null;--> statement-breakpoint
CREATE INDEX `bulk_invites_unerased` ON `bulk_invites` (`created_at`) WHERE erased_at is null;
--> statement-breakpoint
-- A bulk invite was completed when its progress last changed.
UPDATE bulk_invites SET completed_at = updated_at
WHERE id NOT IN (SELECT bulk_invite_id FROM bulk_invite_rows WHERE status = 'pending');

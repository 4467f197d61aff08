ALTER TABLE `egresses` ADD `check_at` integer;--> statement-breakpoint
CREATE INDEX `egresses_to_check` ON `egresses` (`check_at`) WHERE check_at is not null;
--> statement-breakpoint
UPDATE `egresses` SET `check_at` = `updated_at` + 600000 WHERE `status` IN ('egress_starting', 'egress_active', 'egress_ending');

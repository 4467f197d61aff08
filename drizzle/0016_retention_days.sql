ALTER TABLE `organizations` ADD `recording_retention_days` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `transcript_retention_days` integer;

CREATE TABLE `deletion_audit_logs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`subject` text NOT NULL,
	`subject_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `deletion_audit_logs_by_call` ON `deletion_audit_logs` (`call_id`,`id`);--> statement-breakpoint
CREATE TABLE `replaced_files` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`egress_id` integer NOT NULL,
	`storage_key` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`egress_id`) REFERENCES `egresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `replaced_files_by_egress` ON `replaced_files` (`egress_id`,`storage_key`);--> statement-breakpoint
ALTER TABLE `calls` ADD `legal_hold` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `egresses` ADD `deletion_due_at` integer;--> statement-breakpoint
ALTER TABLE `egresses` ADD `deletion_requested` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `egresses` ADD `call_ended_at` integer;--> statement-breakpoint
ALTER TABLE `egresses` ADD `is_held` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `egresses_by_file` ON `egresses` (`storage_key`) WHERE storage_key is not null;--> statement-breakpoint
CREATE INDEX `egresses_retained` ON `egresses` (`organization_id`,`call_ended_at`) WHERE not is_held and deletion_due_at is null and status <> 'egress_deleted';--> statement-breakpoint
CREATE INDEX `egresses_to_delete` ON `egresses` (`deletion_due_at`) WHERE not is_held and deletion_due_at is not null;--> statement-breakpoint
ALTER TABLE `soap_notes` ADD `call_ended_at` integer;--> statement-breakpoint
ALTER TABLE `soap_notes` ADD `is_held` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `soap_notes_retained` ON `soap_notes` (`organization_id`,`call_ended_at`) WHERE not is_held;--> statement-breakpoint
ALTER TABLE `transcripts` ADD `call_ended_at` integer;--> statement-breakpoint
ALTER TABLE `transcripts` ADD `is_held` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `transcripts_retained` ON `transcripts` (`organization_id`,`call_ended_at`) WHERE not is_held;--> statement-breakpoint
CREATE INDEX `organizations_deleting_recordings` ON `organizations` (`recording_retention_days`) WHERE recording_retention_days is not null;--> statement-breakpoint
CREATE INDEX `organizations_deleting_transcripts` ON `organizations` (`transcript_retention_days`) WHERE transcript_retention_days is not null;

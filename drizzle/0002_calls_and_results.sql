CREATE TABLE `call_daily_metrics` (
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`date` text NOT NULL,
	`total_calls` integer NOT NULL,
	`failed_calls` integer NOT NULL,
	`completed_calls` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`waits` integer NOT NULL,
	`wait_ms` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `organization_user_id`, `date`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `egress_audit_logs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`egress_id` integer NOT NULL,
	`event` text NOT NULL,
	`user_id` integer,
	`object_changes` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`egress_id`) REFERENCES `egresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `egress_audit_logs_newest` ON `egress_audit_logs` (`egress_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `egresses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`egress_id` text NOT NULL,
	`status` text NOT NULL,
	`error` text,
	`is_stopped` integer NOT NULL,
	`ended_at` integer,
	`storage_key` text,
	`changed_by_user_id` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `egresses_egress_id_unique` ON `egresses` (`egress_id`);--> statement-breakpoint
CREATE INDEX `egresses_by_call` ON `egresses` (`call_id`,`id`);--> statement-breakpoint
CREATE TABLE `soap_notes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`text` text NOT NULL,
	`is_final` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `soap_notes_call_id_unique` ON `soap_notes` (`call_id`);--> statement-breakpoint
CREATE TABLE `transcript_lines` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`transcript_id` integer NOT NULL,
	`participant_id` integer NOT NULL,
	`text` text NOT NULL,
	`start_time` real NOT NULL,
	`end_time` real NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`transcript_id`) REFERENCES `transcripts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`participant_id`) REFERENCES `participants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `transcript_lines_in_order` ON `transcript_lines` (`transcript_id`,`start_time`,`end_time`);--> statement-breakpoint
CREATE TABLE `transcripts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`summary` text,
	`is_final` integer NOT NULL,
	`lines_digest` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `transcripts_call_id_unique` ON `transcripts` (`call_id`);--> statement-breakpoint
CREATE INDEX `calls_newest` ON `calls` (`organization_user_id`,`started_at`,`id`);--> statement-breakpoint
CREATE INDEX `participants_on_call` ON `participants` (`call_id`) WHERE call_id is not null;
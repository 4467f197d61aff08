CREATE TABLE `livekit_egresses` (
	`egress_id` text PRIMARY KEY NOT NULL,
	`room_sid` text,
	`room_name` text,
	`status` text NOT NULL,
	`error` text,
	`is_stopped` integer NOT NULL,
	`ended_at` integer,
	`storage_key` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `livekit_egresses_by_sid` ON `livekit_egresses` (`room_sid`);--> statement-breakpoint
CREATE INDEX `livekit_egresses_by_name` ON `livekit_egresses` (`room_name`);--> statement-breakpoint
CREATE INDEX `livekit_egresses_by_age` ON `livekit_egresses` (`updated_at`);

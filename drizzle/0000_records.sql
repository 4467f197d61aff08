CREATE TABLE `api_clients` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`name` text NOT NULL,
	`client_id` text NOT NULL,
	`secret_digest` text NOT NULL,
	`revoked_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_clients_client_id_unique` ON `api_clients` (`client_id`);--> statement-breakpoint
CREATE TABLE `calls` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`key` text NOT NULL,
	`organization_user_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`failed` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `calls_key_unique` ON `calls` (`key`);--> statement-breakpoint
CREATE UNIQUE INDEX `calls_by_organization` ON `calls` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `calls_ongoing` ON `calls` (`waiting_room_id`) WHERE ended_at is null;--> statement-breakpoint
CREATE TABLE `organization_user_assists` (
	`organization_id` integer NOT NULL,
	`assistant_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	PRIMARY KEY(`assistant_id`, `provider_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`assistant_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`provider_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `organization_users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`display_name` text NOT NULL,
	`roles` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organization_users_by_user` ON `organization_users` (`organization_id`,`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `organization_users_by_organization` ON `organization_users` (`organization_id`,`id`);--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `participants` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`key` text NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`call_id` integer,
	`user_id` integer,
	`display_name` text NOT NULL,
	`role` text NOT NULL,
	`waiting_since` integer,
	`joined_at` integer,
	`left_at` integer,
	`recording_consent` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`user_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `participants_by_key` ON `participants` (`organization_id`,`key`);--> statement-breakpoint
CREATE INDEX `participants_present` ON `participants` (`waiting_room_id`,`call_id`) WHERE left_at is null;--> statement-breakpoint
CREATE TABLE `refusals` (
	`reason` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`email` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `waiting_room_subs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`user_id` integer,
	`datetime_start` integer NOT NULL,
	`datetime_end` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`user_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_room_subs_by_end` ON `waiting_room_subs` (`waiting_room_id`,`datetime_end`);--> statement-breakpoint
CREATE TABLE `waiting_rooms` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`user_id` integer,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`theme` text NOT NULL,
	`is_active` integer NOT NULL,
	`retired_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`user_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_slug` ON `waiting_rooms` (`slug`) WHERE retired_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_owner` ON `waiting_rooms` (`organization_id`,`user_id`) WHERE user_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_organization` ON `waiting_rooms` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `waiting_rooms_listed` ON `waiting_rooms` (`organization_id`,`id`) WHERE retired_at is null;
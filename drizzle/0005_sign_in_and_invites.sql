CREATE TABLE `authorization_codes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`code_digest` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `authorization_codes_code_digest_unique` ON `authorization_codes` (`code_digest`);--> statement-breakpoint
CREATE INDEX `authorization_codes_by_expiry` ON `authorization_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `bulk_invite_rows` (
	`organization_id` integer NOT NULL,
	`bulk_invite_id` integer NOT NULL,
	`row` integer NOT NULL,
	`email` text NOT NULL,
	`display_name` text NOT NULL,
	`roles` text NOT NULL,
	`status` text NOT NULL,
	`error` text,
	PRIMARY KEY(`bulk_invite_id`, `row`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`bulk_invite_id`) REFERENCES `bulk_invites`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bulk_invite_rows_pending` ON `bulk_invite_rows` (`bulk_invite_id`,`row`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `bulk_invite_rows_by_email` ON `bulk_invite_rows` (`bulk_invite_id`,`email`,`row`);--> statement-breakpoint
CREATE TABLE `bulk_invites` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`total_count` integer NOT NULL,
	`queued_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `bulk_invites_by_organization` ON `bulk_invites` (`organization_id`,`id`);--> statement-breakpoint
CREATE TABLE `invites` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`email` text NOT NULL,
	`display_name` text NOT NULL,
	`roles` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_unused` ON `invites` (`organization_id`,`email`) WHERE used_at is null;--> statement-breakpoint
CREATE INDEX `invites_listed` ON `invites` (`organization_id`,`id`) WHERE used_at is null;--> statement-breakpoint
CREATE TABLE `issuers` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`issuer` text NOT NULL,
	`audience` text NOT NULL,
	`jwks_url` text NOT NULL,
	`email_claim` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `issuers_by_organization` ON `issuers` (`organization_id`,`issuer`);
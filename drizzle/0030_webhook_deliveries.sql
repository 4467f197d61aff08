CREATE TABLE `webhook_deliveries` (
	`organization_id` integer NOT NULL,
	`webhook_endpoint_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`last_attempt_at` integer,
	`response_status` integer,
	`error` text,
	`next_attempt_at` integer,
	PRIMARY KEY(`webhook_endpoint_id`, `event_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_pending` ON `webhook_deliveries` (`webhook_endpoint_id`,`event_id`,`next_attempt_at`,`attempts`) WHERE next_attempt_at is not null;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `service_url` text;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `due_at` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `lease_until` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `failing_since` integer;--> statement-breakpoint
CREATE INDEX `webhook_endpoints_due` ON `webhook_endpoints` (`due_at`) WHERE due_at is not null and is_active;

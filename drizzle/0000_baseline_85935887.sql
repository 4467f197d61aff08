CREATE TABLE `access_log_seals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`date` text NOT NULL,
	`count` integer NOT NULL,
	`first_id` integer NOT NULL,
	`last_id` integer NOT NULL,
	`sha256` text NOT NULL,
	`previous` text,
	`jws` text NOT NULL,
	`jws_sha256` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_log_seals_by_date` ON `access_log_seals` (`organization_id`,`date`);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_log_seals_by_entry` ON `access_log_seals` (`organization_id`,`last_id`);
--> statement-breakpoint
CREATE TABLE `access_logs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`at` integer NOT NULL,
	`event` text NOT NULL,
	`resource` text NOT NULL,
	`resource_id` integer,
	`call_id` integer,
	`organization_user_id` integer,
	`user_id` integer NOT NULL,
	`api_client_id` integer,
	`acting_user` text,
	`purpose` text,
	`request_id` blob,
	`shown` text,
	`from_date` text,
	`to_date` text,
	`reference_digest` text,
	`quota` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `access_logs_by_organization` ON `access_logs` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `access_logs_of_call` ON `access_logs` (`organization_id`,`call_id`,`id`) WHERE call_id is not null;
--> statement-breakpoint
CREATE INDEX `access_logs_of_acting_user` ON `access_logs` (`organization_id`,`acting_user`,`id`) WHERE acting_user is not null;
--> statement-breakpoint
CREATE INDEX `access_logs_of_waiting_list` ON `access_logs` (`api_client_id`,`resource_id`,`acting_user`,`at`) WHERE resource = 'waiting_room';
--> statement-breakpoint
CREATE INDEX `access_logs_of_sign_ins` ON `access_logs` (`organization_user_id`,`api_client_id`,`at`) WHERE event = 'sign_in';
--> statement-breakpoint
CREATE TABLE `call_daily_metrics` (
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`date` text NOT NULL,
	`total_calls` integer NOT NULL,
	`failed_calls` integer NOT NULL,
	`ended_calls` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`waits` integer NOT NULL,
	`wait_ms` integer NOT NULL,
	`quarters` text NOT NULL,
	PRIMARY KEY(`organization_id`, `organization_user_id`, `waiting_room_id`, `date`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `calls` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`key` text NOT NULL,
	`organization_user_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`visit_id` integer,
	`visit_holder_id` integer,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`end_is_assumed` integer DEFAULT false NOT NULL,
	`failed` integer,
	`external_reference` text,
	`reference_said_by` text,
	`reported_at` integer DEFAULT 0 NOT NULL,
	`transcript_deleted_at` integer,
	`soap_note_deleted_at` integer,
	`recordings_deleted_at` integer,
	`reference_erased_at` integer,
	`results_awaited_since` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`visit_id`) REFERENCES `visits`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `calls_by_organization` ON `calls` (`organization_id`,`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `calls_by_key` ON `calls` (`organization_id`,`key`);
--> statement-breakpoint
CREATE INDEX `calls_newest` ON `calls` (`organization_user_id`,`started_at`,`id`);
--> statement-breakpoint
CREATE INDEX `calls_newest_of_visit_holder` ON `calls` (`visit_holder_id`,`started_at`,`id`) WHERE visit_holder_id <> organization_user_id;
--> statement-breakpoint
CREATE INDEX `calls_newest_of_organization` ON `calls` (`organization_id`,`started_at`,`id`);
--> statement-breakpoint
CREATE INDEX `calls_by_reference` ON `calls` (`organization_id`,`external_reference`,`started_at`,`id`) WHERE external_reference is not null;
--> statement-breakpoint
CREATE INDEX `calls_with_reference` ON `calls` (`organization_id`,`ended_at`) WHERE external_reference is not null;
--> statement-breakpoint
CREATE INDEX `calls_of_visit` ON `calls` (`visit_id`) WHERE visit_id is not null;
--> statement-breakpoint
CREATE INDEX `calls_ongoing` ON `calls` (`waiting_room_id`) WHERE ended_at is null;
--> statement-breakpoint
CREATE INDEX `calls_unended` ON `calls` (`organization_id`,`updated_at`) WHERE ended_at is null;
--> statement-breakpoint
CREATE INDEX `calls_awaiting_results` ON `calls` (`organization_id`,`results_awaited_since`) WHERE results_awaited_since is not null;
--> statement-breakpoint
CREATE TABLE `consents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`participant_id` integer NOT NULL,
	`reporter` text NOT NULL,
	`decision` text NOT NULL,
	`decided_at` integer NOT NULL,
	`said_at` integer,
	`method` text,
	`reported_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`participant_id`) REFERENCES `participants`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `consents_of_participant` ON `consents` (`participant_id`,`reporter`,`decision`,case when said_at is null then decided_at else said_at end);
--> statement-breakpoint
CREATE TABLE `early_refusals` (
	`organization_id` integer NOT NULL,
	`call_key` text NOT NULL,
	`key_digest` text NOT NULL,
	`other_digest` text NOT NULL,
	`joined_at` integer NOT NULL,
	`came` integer NOT NULL,
	`decided_at` integer NOT NULL,
	`said_at` integer,
	`method` text,
	`reported_at` integer NOT NULL,
	`unclaimed_since` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `call_key`, `key_digest`, `joined_at`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `early_refusals_by_age` ON `early_refusals` (`organization_id`,`unclaimed_since`) WHERE unclaimed_since is not null;
--> statement-breakpoint
CREATE TABLE `legal_holds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`begun_by` text NOT NULL,
	`reason` text,
	`began_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `legal_holds_running` ON `legal_holds` (`call_id`) WHERE ended_at is null;
--> statement-breakpoint
CREATE INDEX `legal_holds_by_call` ON `legal_holds` (`call_id`,`ended_at`);
--> statement-breakpoint
CREATE TABLE `participants` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`key` text NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`call_id` integer,
	`call_started_at` integer,
	`visit_id` integer,
	`person_id` integer NOT NULL,
	`reference_digest` text,
	`waiting_since` integer,
	`joined_at` integer,
	`left_at` integer,
	`left_is_assumed` integer DEFAULT false NOT NULL,
	`recording_consent` integer,
	`earlier_stay_until` integer,
	`cleared` text,
	`reported_at` integer DEFAULT 0 NOT NULL,
	`erased_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`visit_id`) REFERENCES `visits`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`person_id`) REFERENCES `people`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `participants_by_key` ON `participants` (`organization_id`,`key`) WHERE erased_at is null;
--> statement-breakpoint
CREATE INDEX `participants_erased` ON `participants` (`organization_id`,`key`) WHERE erased_at is not null;
--> statement-breakpoint
CREATE INDEX `participants_of_person` ON `participants` (`person_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `participants_by_organization` ON `participants` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `participants_on_call` ON `participants` (`call_id`,`recording_consent`) WHERE call_id is not null;
--> statement-breakpoint
CREATE INDEX `participants_of_visit` ON `participants` (`visit_id`,`call_id`) WHERE visit_id is not null;
--> statement-breakpoint
CREATE INDEX `participants_by_reference` ON `participants` (`organization_id`,`reference_digest`,`call_started_at`,`call_id`) WHERE reference_digest is not null;
--> statement-breakpoint
CREATE INDEX `participants_present` ON `participants` (`waiting_room_id`,`call_id`,`waiting_since`,`id`) WHERE left_at is null;
--> statement-breakpoint
CREATE INDEX `participants_waiting` ON `participants` (`organization_id`,`updated_at`) WHERE left_at is null and call_id is null;
--> statement-breakpoint
CREATE TABLE `database_settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `list_totals` (
	`list` text NOT NULL,
	`owner_id` integer NOT NULL,
	`total` integer NOT NULL,
	PRIMARY KEY(`list`, `owner_id`)
);
--> statement-breakpoint
CREATE TABLE `moves` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`shard` integer,
	`since` integer NOT NULL,
	`client_ids` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sequences` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `write_conflicts` (
	`reason` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `events_by_organization` ON `events` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `events_by_type` ON `events` (`organization_id`,`type`,`id`);
--> statement-breakpoint
CREATE INDEX `events_by_age` ON `events` (`organization_id`,`created_at`);
--> statement-breakpoint
CREATE INDEX `events_of_everybody_by_type` ON `events` (`type`,`id`);
--> statement-breakpoint
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
CREATE INDEX `webhook_deliveries_pending` ON `webhook_deliveries` (`webhook_endpoint_id`,`event_id`,`next_attempt_at`,`attempts`,`last_attempt_at`) WHERE next_attempt_at is not null;
--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`url` text NOT NULL,
	`event_types` text,
	`is_active` integer NOT NULL,
	`disabled_reason` text,
	`secret` text NOT NULL,
	`previous_secrets` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`created_by_user_id` integer NOT NULL,
	`service_url` text,
	`due_at` integer,
	`lease_until` integer,
	`failing_since` integer,
	`repaired_at` integer,
	`message_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`created_by_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_organization` ON `webhook_endpoints` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_due` ON `webhook_endpoints` (`due_at`) WHERE due_at is not null and is_active;
--> statement-breakpoint
CREATE TABLE `places` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`slug_number` integer GENERATED ALWAYS AS (iif(rtrim(slug, '0123456789') glob '*-' and substr(slug, length(rtrim(slug, '0123456789')) + 1) glob '[1-9]*' and length(substr(slug, length(rtrim(slug, '0123456789')) + 1)) < 7,
        cast(substr(slug, length(rtrim(slug, '0123456789')) + 1) as integer), 1)) VIRTUAL NOT NULL,
	`slug_stem` text GENERATED ALWAYS AS (iif(slug_number = 1, slug, substr(slug, 1, length(slug) - length(slug_number) - 1))) VIRTUAL NOT NULL,
	`shard` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `places_slug_unique` ON `places` (`slug`);
--> statement-breakpoint
CREATE INDEX `places_by_stem` ON `places` (`slug_stem`,`slug_number`);
--> statement-breakpoint
CREATE TABLE `shards` (
	`shard` integer PRIMARY KEY NOT NULL,
	`range` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shards_range_unique` ON `shards` (`range`);
--> statement-breakpoint
CREATE TABLE `participant_exports` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`token` text NOT NULL,
	`lease_until` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
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
CREATE UNIQUE INDEX `authorization_codes_code_digest_unique` ON `authorization_codes` (`code_digest`);
--> statement-breakpoint
CREATE INDEX `authorization_codes_by_expiry` ON `authorization_codes` (`organization_id`,`expires_at`);
--> statement-breakpoint
CREATE TABLE `bulk_invite_rows` (
	`organization_id` integer NOT NULL,
	`bulk_invite_id` integer NOT NULL,
	`row` integer NOT NULL,
	`email` text NOT NULL,
	`address_digest` text DEFAULT '' NOT NULL,
	`display_name` text NOT NULL,
	`roles` text NOT NULL,
	`status` text NOT NULL,
	`error` text,
	PRIMARY KEY(`bulk_invite_id`, `row`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`bulk_invite_id`) REFERENCES `bulk_invites`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bulk_invite_rows_by_status` ON `bulk_invite_rows` (`bulk_invite_id`,`status`,`row`);
--> statement-breakpoint
CREATE INDEX `bulk_invite_rows_by_email` ON `bulk_invite_rows` (`bulk_invite_id`,`email`,`row`);
--> statement-breakpoint
CREATE TABLE `bulk_invites` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`total_count` integer NOT NULL,
	`completed_at` integer,
	`erased_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`created_by_user_id` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`created_by_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `bulk_invites_by_organization` ON `bulk_invites` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `bulk_invites_uncompleted` ON `bulk_invites` (`organization_id`,`created_at`) WHERE completed_at is null;
--> statement-breakpoint
CREATE INDEX `bulk_invites_by_creator` ON `bulk_invites` (`organization_id`,`created_by_user_id`) WHERE completed_at is null;
--> statement-breakpoint
CREATE INDEX `bulk_invites_unerased` ON `bulk_invites` (`organization_id`,`created_at`) WHERE erased_at is null;
--> statement-breakpoint
CREATE INDEX `bulk_invites_lately` ON `bulk_invites` (`organization_id`,`created_at`,`total_count`);
--> statement-breakpoint
CREATE TABLE `mailed_addresses` (
	`organization_id` integer NOT NULL,
	`day` integer NOT NULL,
	`address_digest` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `day`, `address_digest`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
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
	`created_by_user_id` integer NOT NULL,
	`returning_user_id` integer,
	`resent_at` integer,
	`mail_status` text DEFAULT 'off' NOT NULL,
	`mailed_at` integer,
	`next_mail_at` integer,
	`mail_attempts` integer DEFAULT 0 NOT NULL,
	`mail_leases` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`created_by_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`returning_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_pending` ON `invites` (`organization_id`,`email`) WHERE used_at is null;
--> statement-breakpoint
CREATE INDEX `invites_listed` ON `invites` (`organization_id`,`id`,`expires_at`) WHERE used_at is null;
--> statement-breakpoint
CREATE INDEX `invites_by_expiry` ON `invites` (`organization_id`,`expires_at`) WHERE used_at is null;
--> statement-breakpoint
CREATE INDEX `invites_unused` ON `invites` (`id`,`expires_at`) WHERE used_at is null;
--> statement-breakpoint
CREATE INDEX `invites_by_creator` ON `invites` (`organization_id`,`created_by_user_id`) WHERE used_at is null;
--> statement-breakpoint
CREATE INDEX `invites_by_returning_user` ON `invites` (`organization_id`,`returning_user_id`) WHERE used_at is null and returning_user_id is not null;
--> statement-breakpoint
CREATE INDEX `invites_to_mail` ON `invites` (`organization_id`,`next_mail_at`) WHERE next_mail_at is not null;
--> statement-breakpoint
CREATE TABLE `livekit_rooms` (
	`organization_id` integer NOT NULL,
	`room_sid` text NOT NULL,
	`closed_at` integer NOT NULL,
	`call_ended_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `room_sid`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `livekit_rooms_by_age` ON `livekit_rooms` (`organization_id`,`updated_at`);
--> statement-breakpoint
CREATE TABLE `livekit_visitors` (
	`organization_id` integer NOT NULL,
	`room_sid` text NOT NULL,
	`key_digest` text NOT NULL,
	`connections` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `room_sid`, `key_digest`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `livekit_visitors_by_age` ON `livekit_visitors` (`organization_id`,`updated_at`);
--> statement-breakpoint
CREATE TABLE `api_clients` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`name` text NOT NULL,
	`client_id` text NOT NULL,
	`secret_digest` text NOT NULL,
	`secret_hint` text NOT NULL,
	`scopes` text,
	`expires_at` integer,
	`last_used_at` integer,
	`revoked_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_clients_client_id_unique` ON `api_clients` (`client_id`);
--> statement-breakpoint
CREATE INDEX `api_clients_in_use` ON `api_clients` (`organization_id`,`revoked_at`,`organization_user_id`);
--> statement-breakpoint
CREATE INDEX `api_clients_listed` ON `api_clients` (`organization_id`,`id`);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`organization_id` integer NOT NULL,
	`api_client_id` integer NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`result` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`api_client_id`, `key`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`api_client_id`) REFERENCES `api_clients`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`organization_id`,`created_at`);
--> statement-breakpoint
CREATE TABLE `issuers` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`issuer` text NOT NULL,
	`audience` text NOT NULL,
	`jwks_url` text NOT NULL,
	`email_claim` text NOT NULL,
	`require_verified_email` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `issuers_by_organization` ON `issuers` (`organization_id`,`issuer`,`audience`);
--> statement-breakpoint
CREATE INDEX `issuers_listed` ON `issuers` (`organization_id`,`id`);
--> statement-breakpoint
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
CREATE INDEX `organization_user_assists_by_provider` ON `organization_user_assists` (`organization_id`,`provider_id`);
--> statement-breakpoint
CREATE TABLE `organization_users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`email` text,
	`display_name` text NOT NULL,
	`roles` text NOT NULL,
	`assists_changes` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT `organization_users_are_people` CHECK(id <> 1),
	CONSTRAINT `organization_users_have_emails` CHECK(email is not null or roles = '[]')
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organization_users_by_email` ON `organization_users` (`organization_id`,`email`) WHERE roles <> '[]';
--> statement-breakpoint
CREATE INDEX `former_members_by_email` ON `organization_users` (`organization_id`,`email`) WHERE roles = '[]';
--> statement-breakpoint
CREATE UNIQUE INDEX `organization_users_by_organization` ON `organization_users` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `organization_users_by_role_provider_assistant` ON `organization_users` (`organization_id`,`id`) WHERE instr(roles, char(34) || 'provider_assistant' || char(34)) > 0;
--> statement-breakpoint
CREATE INDEX `organization_users_by_role_provider` ON `organization_users` (`organization_id`,`id`) WHERE instr(roles, char(34) || 'provider' || char(34)) > 0;
--> statement-breakpoint
CREATE INDEX `organization_users_by_role_organization_admin` ON `organization_users` (`organization_id`,`id`) WHERE instr(roles, char(34) || 'organization_admin' || char(34)) > 0;
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`mail_name` text DEFAULT '' NOT NULL,
	`slug` text NOT NULL,
	`recording_retention_days` integer,
	`transcript_retention_days` integer,
	`participant_retention_days` integer,
	`require_acting_user` integer DEFAULT false NOT NULL,
	`time_zone` text,
	`patient_identifier_system` text,
	`is_suspended` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);
--> statement-breakpoint
CREATE INDEX `organizations_deleting_recordings` ON `organizations` (`recording_retention_days`) WHERE recording_retention_days is not null;
--> statement-breakpoint
CREATE INDEX `organizations_deleting_transcripts` ON `organizations` (`transcript_retention_days`) WHERE transcript_retention_days is not null;
--> statement-breakpoint
CREATE INDEX `organizations_erasing_participants` ON `organizations` (`participant_retention_days`) WHERE participant_retention_days is not null;
--> statement-breakpoint
CREATE TABLE `organization_days` (
	`organization_id` integer NOT NULL,
	`date` text NOT NULL,
	`api_client_id` integer DEFAULT 0 NOT NULL,
	`writes` integer DEFAULT 0 NOT NULL,
	`access_log_entries` integer DEFAULT 0 NOT NULL,
	`visits` integer DEFAULT 0 NOT NULL,
	`mails` integer DEFAULT 0 NOT NULL,
	`sign_ins` integer DEFAULT 0 NOT NULL,
	`reserved` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`organization_id`, `date`, `api_client_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `organization_days_of_clients` ON `organization_days` (`organization_id`,`date`,`api_client_id`) WHERE api_client_id <> 0;
--> statement-breakpoint
CREATE TABLE `call_text_versions` (
	`organization_id` integer NOT NULL,
	`text_id` integer NOT NULL,
	`version` integer NOT NULL,
	`text` text,
	`summary` text,
	`lines` text,
	`reason` text NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`text_id`, `version`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`text_id`) REFERENCES `call_texts`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `call_texts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`kind` text NOT NULL,
	`text` text,
	`summary` text,
	`is_final` integer NOT NULL,
	`lines_digest` text,
	`first_line_id` integer,
	`spoken_until` integer,
	`corrections` integer DEFAULT 0 NOT NULL,
	`replaced_size` integer DEFAULT 0 NOT NULL,
	`reported_at` integer DEFAULT 0 NOT NULL,
	`call_ended_at` integer,
	`is_held` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`lines` blob,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT `call_texts_complete` CHECK(iif(kind = 'soap_note', text, lines_digest) is not null)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `call_texts_by_organization` ON `call_texts` (`organization_id`,`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `call_texts_of_call` ON `call_texts` (`call_id`,`kind`);
--> statement-breakpoint
CREATE INDEX `call_texts_retained` ON `call_texts` (`organization_id`,`call_ended_at`) WHERE not is_held;
--> statement-breakpoint
CREATE TABLE `egress_audit_logs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`egress_id` integer NOT NULL,
	`event` text NOT NULL,
	`user_id` integer NOT NULL,
	`object_changes` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`egress_id`) REFERENCES `egresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `egress_audit_logs_newest` ON `egress_audit_logs` (`egress_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `egress_audit_logs_by_event` ON `egress_audit_logs` (`egress_id`,`event`,`created_at`,`id`);
--> statement-breakpoint
CREATE TABLE `egress_files` (
	`organization_id` integer NOT NULL,
	`storage_key` text NOT NULL,
	`egress_id` integer NOT NULL,
	`is_deleted` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`organization_id`, `storage_key`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`egress_id`) REFERENCES `egresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `egress_files_left` ON `egress_files` (`egress_id`) WHERE not is_deleted;
--> statement-breakpoint
CREATE TABLE `egresses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`call_id` integer,
	`egress_id` text NOT NULL,
	`call_key` text,
	`status` text NOT NULL,
	`error` text,
	`is_stopped` integer NOT NULL,
	`ended_at` integer,
	`early_ended_at` integer,
	`storage_key` text,
	`started_at` integer,
	`duration` integer,
	`size` integer,
	`changed_by_user_id` integer,
	`deletion_due_at` integer,
	`deletion_requested_by` integer,
	`is_announced` integer DEFAULT false NOT NULL,
	`call_ended_at` integer,
	`is_held` integer DEFAULT false NOT NULL,
	`check_at` integer,
	`stop_due_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `egresses_by_key` ON `egresses` (`organization_id`,`egress_id`);
--> statement-breakpoint
CREATE INDEX `egresses_by_call` ON `egresses` (`call_id`,`id`) WHERE call_id is not null;
--> statement-breakpoint
CREATE INDEX `egresses_with_call` ON `egresses` (`organization_id`,`id`) WHERE call_id is not null;
--> statement-breakpoint
CREATE INDEX `egresses_without_call` ON `egresses` (`organization_id`,`call_key`) WHERE call_id is null;
--> statement-breakpoint
CREATE INDEX `egresses_retained` ON `egresses` (`organization_id`,`call_ended_at`) WHERE not is_held and deletion_due_at is null and status <> 'egress_deleted';
--> statement-breakpoint
CREATE INDEX `egresses_unclaimed` ON `egresses` (`organization_id`,`updated_at`) WHERE call_id is null and deletion_due_at is null and status <> 'egress_deleted';
--> statement-breakpoint
CREATE INDEX `egresses_to_delete` ON `egresses` (`organization_id`,`deletion_due_at`) WHERE not is_held and deletion_due_at is not null;
--> statement-breakpoint
CREATE INDEX `egresses_to_check` ON `egresses` (`organization_id`,`check_at`) WHERE check_at is not null;
--> statement-breakpoint
CREATE INDEX `egresses_to_stop` ON `egresses` (`organization_id`,`stop_due_at`) WHERE stop_due_at is not null and not is_stopped;
--> statement-breakpoint
CREATE TABLE `former_references` (
	`organization_id` integer NOT NULL,
	`reference_digest` text NOT NULL,
	`person_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `reference_digest`, `person_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`person_id`) REFERENCES `people`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `people` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`visit_id` integer,
	`number` integer,
	`visit_starts_at` integer,
	`display_name` text NOT NULL,
	`role` text NOT NULL,
	`user_id` integer,
	`external_reference` text,
	`reference_digest` text,
	`said` text,
	`cleared` text,
	`assumed` text,
	`reported_at` integer DEFAULT 0 NOT NULL,
	`over_at` integer,
	`erased_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`visit_id`) REFERENCES `visits`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_by_organization` ON `people` (`organization_id`,`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_of_visit` ON `people` (`visit_id`,`number`) WHERE visit_id is not null;
--> statement-breakpoint
CREATE INDEX `people_by_reference` ON `people` (`organization_id`,`reference_digest`,`visit_starts_at`,`visit_id`) WHERE reference_digest is not null;
--> statement-breakpoint
CREATE INDEX `people_to_erase` ON `people` (`organization_id`,`over_at`) WHERE over_at is not null;
--> statement-breakpoint
CREATE TABLE `visit_daily_metrics` (
	`organization_id` integer NOT NULL,
	`organization_user_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`date` text NOT NULL,
	`planned` integer NOT NULL,
	`held` integer NOT NULL,
	`missed` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`quarters` text NOT NULL,
	PRIMARY KEY(`organization_id`, `organization_user_id`, `waiting_room_id`, `date`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `visits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`organization_user_id` integer,
	`external_reference` text,
	`status` text NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`last_participant_id` integer NOT NULL,
	`cancelled_at` integer,
	`corrections` integer DEFAULT 0 NOT NULL,
	`reference_erased_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`organization_user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `visits_by_organization` ON `visits` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `visits_by_start` ON `visits` (`organization_id`,`starts_at`,`id`);
--> statement-breakpoint
CREATE INDEX `visits_by_status` ON `visits` (`organization_id`,`status`,`starts_at`,`id`);
--> statement-breakpoint
CREATE INDEX `visits_of_holder` ON `visits` (`organization_id`,`organization_user_id`,`starts_at`,`id`);
--> statement-breakpoint
CREATE INDEX `visits_of_holder_by_status` ON `visits` (`organization_id`,`organization_user_id`,`status`,`starts_at`,`id`);
--> statement-breakpoint
CREATE INDEX `visits_by_reference` ON `visits` (`organization_id`,`external_reference`,`starts_at`,`id`) WHERE external_reference is not null;
--> statement-breakpoint
CREATE INDEX `visits_open` ON `visits` (`organization_id`,`ends_at`) WHERE status in ('planned', 'started');
--> statement-breakpoint
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
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_room_subs_by_end` ON `waiting_room_subs` (`waiting_room_id`,`datetime_end`);
--> statement-breakpoint
CREATE INDEX `waiting_room_subs_held` ON `waiting_room_subs` (`organization_id`,`user_id`) WHERE user_id is not null;
--> statement-breakpoint
CREATE TABLE `waiting_room_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`waiting_room_id` integer NOT NULL,
	`slug_number` integer GENERATED ALWAYS AS (iif(rtrim(slug, '0123456789') glob '*-' and substr(slug, length(rtrim(slug, '0123456789')) + 1) glob '[1-9]*' and length(substr(slug, length(rtrim(slug, '0123456789')) + 1)) < 7,
        cast(substr(slug, length(rtrim(slug, '0123456789')) + 1) as integer), 1)) VIRTUAL NOT NULL,
	`slug_stem` text GENERATED ALWAYS AS (iif(slug_number = 1, slug, substr(slug, 1, length(slug) - length(slug_number) - 1))) VIRTUAL NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`waiting_room_id`) REFERENCES `waiting_rooms`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `waiting_room_slugs_by_stem` ON `waiting_room_slugs` (`slug_stem`,`slug_number`);
--> statement-breakpoint
CREATE TABLE `waiting_rooms` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`user_id` integer,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`slug` text NOT NULL,
	`theme` text NOT NULL,
	`is_active` integer NOT NULL,
	`retired_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `organization_users`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_slug` ON `waiting_rooms` (`slug`) WHERE retired_at is null;
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_owner` ON `waiting_rooms` (`organization_id`,`user_id`) WHERE user_id is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX `waiting_rooms_by_organization` ON `waiting_rooms` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `waiting_rooms_listed` ON `waiting_rooms` (`organization_id`,`id`) WHERE retired_at is null;
--> statement-breakpoint
CREATE INDEX `waiting_rooms_by_name` ON `waiting_rooms` (`organization_id`,`name_key`,`id`) WHERE retired_at is null;
--> statement-breakpoint
CREATE INDEX `waiting_rooms_by_activity` ON `waiting_rooms` (`organization_id`,`is_active`,`id`) WHERE retired_at is null;
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) VALUES ('organization_users', 1);
--> statement-breakpoint
CREATE TRIGGER `access_log_seals_chained` BEFORE INSERT ON `access_log_seals`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE id = new.id) OR new.last_id < new.first_id
  OR (
    SELECT (last.last_id >= new.first_id OR last.date >= new.date OR last.jws_sha256 IS NOT new.previous)
    FROM access_log_seals AS last WHERE organization_id = new.organization_id ORDER BY last_id DESC LIMIT 1
  )
  OR (new.previous IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = new.organization_id))
BEGIN
  SELECT raise(ABORT, 'a seal follows the one before it');
END;
--> statement-breakpoint
CREATE TRIGGER `events_access_log_sealed` AFTER INSERT ON `access_log_seals`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'access_log.sealed',
    json_object('date', new.date, 'seal_sha256', new.jws_sha256), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `access_logs_kept` BEFORE DELETE ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id)
  AND NOT EXISTS (
    SELECT 1 FROM access_log_seals WHERE organization_id = old.organization_id AND last_id >= old.id
  )
BEGIN
  SELECT raise(ABORT, 'entries of the access log are kept until their day is sealed');
END;
--> statement-breakpoint
CREATE VIEW `call_metric_contributions` AS
SELECT
  call.id AS call_id,
  NULL AS participant_id,
  call.organization_id,
  call.organization_user_id,
  call.waiting_room_id,
  date(call.started_at / 1000.0, 'unixepoch') AS date,
  -- Rounded down, also before 1970.
  call.started_at / 900000 - (call.started_at % 900000 < 0) AS quarter,
  1 AS total_calls,
  coalesce(call.failed, 0) AS failed_calls,
  call.ended_at IS NOT NULL AND NOT call.end_is_assumed AS ended_calls,
  iif(call.ended_at IS NOT NULL AND NOT call.end_is_assumed, call.ended_at - call.started_at, 0) AS duration_ms,
  0 AS waits,
  0 AS wait_ms
FROM calls call
UNION ALL
SELECT
  call.id,
  participant.id,
  call.organization_id,
  call.organization_user_id,
  call.waiting_room_id,
  date(call.started_at / 1000.0, 'unixepoch'),
  call.started_at / 900000 - (call.started_at % 900000 < 0),
  0, 0, 0, 0,
  1,
  max(0, call.started_at - participant.waiting_since)
FROM participants participant
JOIN calls call ON call.id = participant.call_id
JOIN people person ON person.id = participant.person_id
WHERE person.role = 'recipient' AND participant.waiting_since IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `call_metric_contribution` INSTEAD OF INSERT ON `call_metric_contributions`
BEGIN
  INSERT INTO call_daily_metrics (organization_id, organization_user_id, waiting_room_id, date, total_calls, failed_calls,
    ended_calls, duration_ms, waits, wait_ms, quarters)
  SELECT new.organization_id, member.id, room.id, new.date, new.total_calls, new.failed_calls, new.ended_calls,
    new.duration_ms, new.waits, new.wait_ms, json_set('{}', '$.' || new.quarter, json_array(new.total_calls, new.failed_calls,
      new.ended_calls, new.duration_ms, new.waits, new.wait_ms))
  FROM (SELECT 0 AS id UNION ALL SELECT new.organization_user_id) member,
    (SELECT 0 AS id UNION ALL SELECT new.waiting_room_id) room
  WHERE true
  ON CONFLICT (organization_id, organization_user_id, waiting_room_id, date) DO UPDATE SET
    total_calls = total_calls + excluded.total_calls,
    failed_calls = failed_calls + excluded.failed_calls,
    ended_calls = ended_calls + excluded.ended_calls,
    duration_ms = duration_ms + excluded.duration_ms,
    waits = waits + excluded.waits,
    wait_ms = wait_ms + excluded.wait_ms,
    quarters = json_set(quarters, '$.' || new.quarter, json_array(
      coalesce(quarters ->> ('$.' || new.quarter || '[0]'), 0) + excluded.total_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[1]'), 0) + excluded.failed_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[2]'), 0) + excluded.ended_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[3]'), 0) + excluded.duration_ms,
      coalesce(quarters ->> ('$.' || new.quarter || '[4]'), 0) + excluded.waits,
      coalesce(quarters ->> ('$.' || new.quarter || '[5]'), 0) + excluded.wait_ms));
END;
--> statement-breakpoint
CREATE VIEW `call_metric_changes` AS
SELECT NULL AS call_id, NULL AS participant_id, NULL AS sign;
--> statement-breakpoint
CREATE TRIGGER `call_metric_change` INSTEAD OF INSERT ON `call_metric_changes`
BEGIN
  INSERT INTO call_metric_contributions
  SELECT call_id, new.participant_id, organization_id, organization_user_id, waiting_room_id, date, quarter,
    new.sign * sum(total_calls), new.sign * sum(failed_calls), new.sign * sum(ended_calls),
    new.sign * sum(duration_ms), new.sign * sum(waits), new.sign * sum(wait_ms)
  FROM call_metric_contributions contribution
  WHERE contribution.call_id = new.call_id AND (new.participant_id IS NULL OR contribution.participant_id = new.participant_id)
  GROUP BY call_id;
END;
--> statement-breakpoint
CREATE TRIGGER `calls_inserted` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_updating` BEFORE UPDATE OF organization_user_id, waiting_room_id, started_at ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.started_at)
BEGIN
  INSERT INTO call_metric_changes VALUES (old.id, NULL, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_updated` AFTER UPDATE OF organization_user_id, waiting_room_id, started_at ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.started_at)
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_ended` AFTER UPDATE OF ended_at, end_is_assumed, failed ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS (new.organization_user_id, new.waiting_room_id, new.started_at)
  AND (old.ended_at, old.end_is_assumed, old.failed) IS NOT (new.ended_at, new.end_is_assumed, new.failed)
BEGIN
  INSERT INTO call_metric_contributions
  SELECT call_id, NULL, organization_id, organization_user_id, waiting_room_id, date, quarter, 0,
    failed_calls - coalesce(old.failed, 0),
    ended_calls - (old.ended_at IS NOT NULL AND NOT old.end_is_assumed),
    duration_ms - iif(old.ended_at IS NOT NULL AND NOT old.end_is_assumed, old.ended_at - old.started_at, 0), 0, 0
  FROM call_metric_contributions WHERE call_id = new.id AND participant_id IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `calls_deleting` BEFORE DELETE ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (old.id, NULL, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_inserted` AFTER INSERT ON `participants` WHEN new.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (new.call_id, new.id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_updating` BEFORE UPDATE OF call_id, waiting_since ON `participants`
WHEN old.call_id IS NOT NULL AND (old.call_id, old.waiting_since) IS NOT (new.call_id, new.waiting_since)
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_updated` AFTER UPDATE OF call_id, waiting_since ON `participants`
WHEN new.call_id IS NOT NULL AND (old.call_id, old.waiting_since) IS NOT (new.call_id, new.waiting_since)
BEGIN
  INSERT INTO call_metric_changes VALUES (new.call_id, new.id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_deleting` BEFORE DELETE ON `participants` WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `people_role_updating` BEFORE UPDATE OF role ON `people` WHEN old.role <> new.role
BEGIN
  INSERT INTO call_metric_changes
  SELECT call_id, id, -1 FROM participants WHERE person_id = old.id AND call_id IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `people_role_updated` AFTER UPDATE OF role ON `people` WHEN old.role <> new.role
BEGIN
  INSERT INTO call_metric_changes
  SELECT call_id, id, 1 FROM participants WHERE person_id = new.id AND call_id IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `events_call_started` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'call.started',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at);
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'call.ended',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at
  WHERE new.ended_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `events_call_updated`
AFTER UPDATE OF organization_user_id, external_reference, failed, ended_at, end_is_assumed ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type,
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.updated_at
  FROM (
    SELECT 'call.updated' AS type
    WHERE old.organization_user_id <> new.organization_user_id
      OR coalesce(old.failed, 0) <> coalesce(new.failed, 0)
      OR (old.external_reference IS NOT new.external_reference AND new.reference_erased_at IS NULL)
      OR (old.ended_at IS NOT NULL
        AND (old.ended_at IS NOT new.ended_at OR old.end_is_assumed <> new.end_is_assumed))
    UNION ALL
    SELECT value FROM json_each(iif(old.ended_at IS NULL AND new.ended_at IS NOT NULL, json_array(
      'call.ended',
      (SELECT 'transcript.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'transcript' AND is_final),
      (SELECT 'soap_note.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'soap_note' AND is_final)
    ), '[]')) WHERE value IS NOT NULL
  );
END;
--> statement-breakpoint
CREATE TRIGGER `events_call_results_ready` AFTER UPDATE OF results_awaited_since ON `calls`
WHEN old.results_awaited_since IS NOT NULL AND new.results_awaited_since IS NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'call.results_ready',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_erased_on_call` AFTER UPDATE OF call_id, erased_at ON `participants`
WHEN new.erased_at IS NOT NULL AND new.call_id IS NOT NULL
  AND (old.erased_at IS NULL OR old.call_id IS NOT new.call_id)
BEGIN
  UPDATE calls
  SET external_reference = NULL, reference_erased_at = new.updated_at,
    updated_at = max(updated_at, new.updated_at)
  WHERE id = new.call_id AND reference_erased_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM legal_holds WHERE call_id = new.call_id AND legal_holds.ended_at IS NULL);
END;
--> statement-breakpoint
CREATE TRIGGER `call_references_of_visit` AFTER UPDATE OF external_reference ON `visits`
WHEN old.external_reference IS NOT new.external_reference
BEGIN
  UPDATE calls
  SET external_reference = new.external_reference, updated_at = max(updated_at, new.updated_at),
    reference_erased_at = new.reference_erased_at
  WHERE visit_id = new.id AND reference_said_by IS NULL AND reference_erased_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `call_visit_holders` AFTER UPDATE OF organization_user_id ON `visits`
WHEN old.organization_user_id IS NOT new.organization_user_id
BEGIN
  UPDATE calls SET visit_holder_id = new.organization_user_id WHERE visit_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `call_references_not_restored` BEFORE UPDATE OF external_reference ON `calls`
WHEN new.reference_erased_at IS NOT NULL AND new.external_reference IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the reference of the call was erased');
END;
--> statement-breakpoint
CREATE TRIGGER `early_refusals_claimed` AFTER INSERT ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = NULL
  WHERE organization_id = new.organization_id AND call_key = new.key;
END;
--> statement-breakpoint
CREATE TRIGGER `early_refusals_unclaimed` AFTER DELETE ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = created_at
  WHERE organization_id = old.organization_id AND call_key = old.key;
END;
--> statement-breakpoint
CREATE TRIGGER `early_refusals_stop_egresses` AFTER INSERT ON `early_refusals` WHEN new.came
BEGIN
  UPDATE egresses SET stop_due_at = new.created_at
  WHERE organization_id = new.organization_id AND call_key = new.call_key AND call_id IS NULL
    AND NOT is_stopped AND status IN ('egress_starting', 'egress_active');
END;
--> statement-breakpoint
CREATE TRIGGER `recording_consents_decided` AFTER INSERT ON `consents`
BEGIN
  UPDATE participants
  SET updated_at = new.created_at, recording_consent = (
    SELECT decision = 'granted' FROM consents
    WHERE participant_id = new.participant_id
    ORDER BY reporter = 'observer' AND decision = 'granted' AND said_at IS NULL, decided_at DESC, decision DESC
    LIMIT 1
  )
  WHERE id = new.participant_id;
END;
--> statement-breakpoint
CREATE VIEW `recording_consents` AS
SELECT id AS participant_id, call_id, recording_consent FROM participants;
--> statement-breakpoint
CREATE TRIGGER `legal_holds_unchanged` BEFORE UPDATE ON `legal_holds`
WHEN old.ended_at IS NOT NULL
  OR (new.id, new.organization_id, new.call_id, new.began_at)
    IS NOT (old.id, old.organization_id, old.call_id, old.began_at)
  OR (new.begun_by <> old.begun_by AND new.begun_by <> 'platform')
BEGIN
  SELECT raise(ABORT, 'of a legal hold only the reason, the end and who began it change');
END;
--> statement-breakpoint
CREATE VIEW `copies` AS
SELECT id AS participant_id, call_id, call_started_at, reference_digest FROM participants;
--> statement-breakpoint
CREATE TRIGGER `copies_moved` AFTER UPDATE OF started_at ON `calls`
WHEN old.started_at <> new.started_at
BEGIN
  UPDATE participants SET call_started_at = new.started_at WHERE call_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `copies_inserted` AFTER INSERT ON `participants`
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id),
    reference_digest = (SELECT reference_digest FROM people WHERE id = new.person_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `copies_updated` AFTER UPDATE OF call_id, call_started_at, reference_digest ON `participants`
WHEN new.call_started_at IS NOT (SELECT started_at FROM calls WHERE id = new.call_id)
  OR new.reference_digest IS NOT (SELECT reference_digest FROM people WHERE id = new.person_id)
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id),
    reference_digest = (SELECT reference_digest FROM people WHERE id = new.person_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE VIEW `events_of_participants` AS
SELECT NULL AS type, NULL AS participant_id, NULL AS at;
--> statement-breakpoint
CREATE TRIGGER `events_of_participant` INSTEAD OF INSERT ON `events_of_participants`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.type, json_patch('{}', json_object(
    'waiting_room_id', waiting_room_id, 'participant_id', id, 'call_id', call_id,
    'organization_user_id', (SELECT organization_user_id FROM calls WHERE calls.id = call_id))), new.at
  FROM participants WHERE id = new.participant_id;
END;
--> statement-breakpoint
CREATE TRIGGER `events_participant_created` AFTER INSERT ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id, new.updated_at FROM (
    SELECT 'participant.waiting' AS type
    WHERE new.waiting_since IS NOT NULL AND (new.joined_at IS NULL OR new.joined_at > new.waiting_since)
    UNION ALL SELECT 'participant.joined' WHERE new.joined_at IS NOT NULL
    UNION ALL SELECT 'participant.left' WHERE new.left_at IS NOT NULL
  );
END;
--> statement-breakpoint
CREATE TRIGGER `events_participant_updated` AFTER UPDATE OF waiting_room_id, waiting_since, joined_at, left_at ON `participants`
BEGIN
  INSERT INTO events_of_participants
  SELECT type, new.id, new.updated_at FROM (
    SELECT 'participant.waiting' AS type, new.waiting_since AS time, new.waiting_since AS since,
      iif(old.waiting_room_id = new.waiting_room_id OR new.call_id IS NOT NULL, old.waiting_since, NULL) AS known
    WHERE new.joined_at IS NULL OR new.joined_at > new.waiting_since
    UNION ALL SELECT 'participant.joined', new.joined_at, iif(old.left_is_assumed, NULL, new.joined_at), old.joined_at
    UNION ALL SELECT 'participant.left', new.left_at,
      max(coalesce(new.waiting_since, 0), iif(old.left_is_assumed, 0, coalesce(new.joined_at, 0))), old.left_at
  )
  WHERE time IS NOT NULL AND (known IS NULL OR since > old.left_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_consent_withdrawn` AFTER UPDATE OF recording_consent ON `participants`
WHEN old.recording_consent AND NOT new.recording_consent
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'consent.withdrawn', json_object('organization_user_id', organization_user_id,
    'call_id', new.call_id, 'participant_id', new.id), new.updated_at
  FROM calls WHERE id = new.call_id;
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_inserted` AFTER INSERT ON `invites`
WHEN new.used_at IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('invites', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_updated` AFTER UPDATE OF used_at ON `invites`
WHEN (old.used_at IS NULL) <> (new.used_at IS NULL)
BEGIN
  INSERT INTO list_totals VALUES ('invites', new.organization_id, iif(new.used_at IS NULL, 1, -1))
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_deleted` AFTER DELETE ON `invites`
WHEN old.used_at IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('invites', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `egress_audit_logs_listed_inserted` AFTER INSERT ON `egress_audit_logs`
BEGIN
  INSERT INTO list_totals VALUES ('egress_audit_logs:' || new.event, new.egress_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_rooms_made` AFTER INSERT ON `waiting_rooms` WHEN new.user_id IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('waiting_rooms', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  SELECT raise(ABORT, 'quota: waiting rooms') FROM list_totals
  WHERE list = 'waiting_rooms' AND owner_id = new.organization_id AND total > 20000;
END;
--> statement-breakpoint
CREATE TRIGGER `places_listed_inserted` AFTER INSERT ON `places`
BEGIN
  INSERT INTO list_totals VALUES ('organizations', new.shard, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `places_listed_updated` AFTER UPDATE OF deleted_at, shard ON `places`
WHEN old.deleted_at IS NULL AND (new.deleted_at IS NOT NULL OR new.shard <> old.shard)
BEGIN
  INSERT INTO list_totals VALUES ('organizations', old.shard, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals VALUES ('organizations', new.shard, iif(new.deleted_at IS NULL, 1, 0))
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `organization_users_listed_inserted` AFTER INSERT ON `organization_users`
BEGIN
  INSERT INTO list_totals VALUES ('organization_users', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, new.organization_id, 1 FROM json_each(new.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `organization_users_listed_updated` AFTER UPDATE OF roles ON `organization_users`
WHEN old.roles <> new.roles
BEGIN
  INSERT INTO list_totals SELECT 'organization_users:' || value, old.organization_id, -1 FROM json_each(old.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, new.organization_id, 1 FROM json_each(new.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `organization_users_listed_deleted` AFTER DELETE ON `organization_users`
BEGIN
  INSERT INTO list_totals VALUES ('organization_users', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, old.organization_id, -1 FROM json_each(old.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `api_clients_listed_inserted` AFTER INSERT ON `api_clients`
BEGIN
  INSERT INTO list_totals VALUES ('api_clients', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `api_clients_listed_deleted` AFTER DELETE ON `api_clients`
BEGIN
  INSERT INTO list_totals VALUES ('api_clients', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `issuers_listed_inserted` AFTER INSERT ON `issuers`
BEGIN
  INSERT INTO list_totals VALUES ('issuers', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `issuers_listed_deleted` AFTER DELETE ON `issuers`
BEGIN
  INSERT INTO list_totals VALUES ('issuers', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `organizations_want_range` BEFORE INSERT ON `organizations`
WHEN NOT EXISTS (SELECT 1 FROM places WHERE id = new.id AND shard = 0)
  AND NOT EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
BEGIN
  SELECT raise(ABORT, 'the database has no range of ids');
END;
--> statement-breakpoint
CREATE TRIGGER `write_conflict` BEFORE INSERT ON `write_conflicts`
BEGIN
  SELECT raise(ABORT, new.reason);
END;
--> statement-breakpoint
CREATE TRIGGER `webhook_deliveries_event` AFTER INSERT ON `events`
BEGIN
  INSERT INTO webhook_deliveries (organization_id, webhook_endpoint_id, event_id, next_attempt_at)
  SELECT organization_id, id, new.id, new.created_at
  FROM webhook_endpoints
  WHERE organization_id = new.organization_id AND is_active
    AND (event_types IS NULL OR EXISTS (
      SELECT 1 FROM json_each(event_types)
      WHERE value IN (new.type, substr(new.type, 1, instr(new.type, '.')) || '*')
    ));
END;
--> statement-breakpoint
CREATE TRIGGER `webhook_deliveries_due` AFTER INSERT ON `webhook_deliveries` WHEN new.next_attempt_at IS NOT NULL
BEGIN
  UPDATE webhook_endpoints SET due_at = new.next_attempt_at
  WHERE id = new.webhook_endpoint_id AND (due_at IS NULL OR due_at > new.next_attempt_at);
END;
--> statement-breakpoint
CREATE TRIGGER `webhook_deliveries_due_again` AFTER UPDATE OF next_attempt_at ON `webhook_deliveries`
WHEN new.next_attempt_at IS NOT NULL
BEGIN
  UPDATE webhook_endpoints SET due_at = new.next_attempt_at
  WHERE id = new.webhook_endpoint_id AND (due_at IS NULL OR due_at > new.next_attempt_at);
END;
--> statement-breakpoint
CREATE TRIGGER `webhook_endpoints_resumed` AFTER UPDATE OF is_suspended ON `organizations`
WHEN old.is_suspended AND NOT new.is_suspended
BEGIN
  UPDATE webhook_endpoints SET failing_since = NULL
  WHERE organization_id = new.id AND failing_since IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `events_bulk_invite_completed` AFTER UPDATE OF completed_at ON `bulk_invites`
WHEN old.completed_at IS NULL AND new.completed_at IS NOT NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'bulk_invite.completed', json_object('bulk_invite_id', new.id), new.completed_at);
END;
--> statement-breakpoint
CREATE TRIGGER `mails_to_address_bounded` BEFORE UPDATE OF count ON `mailed_addresses` WHEN new.count > 3
BEGIN
  SELECT raise(ABORT, 'quota: address');
END;
--> statement-breakpoint
CREATE TRIGGER `events_invite_created` AFTER INSERT ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'invite.created', json_object('invite_id', new.id), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_invite_updated` AFTER UPDATE OF mail_status, used_at ON `invites`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type, json_object('invite_id', new.id), at
  FROM (
    SELECT 'invite.mail_failed' AS type, cast(unixepoch('subsec') * 1000 AS INTEGER) AS at
    WHERE old.mail_status <> 'failed' AND new.mail_status = 'failed'
    UNION ALL
    SELECT 'invite.accepted', new.used_at WHERE old.used_at IS NULL AND new.used_at IS NOT NULL
  );
END;
--> statement-breakpoint
CREATE TRIGGER `events_api_client_created` AFTER INSERT ON `api_clients`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'api_client.created', json_object('api_client_id', new.id), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_api_client_revoked` AFTER UPDATE OF revoked_at ON `api_clients`
WHEN old.revoked_at IS NULL AND new.revoked_at IS NOT NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'api_client.revoked', json_object('api_client_id', new.id), new.revoked_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_organization_user_created` AFTER INSERT ON `organization_users` WHEN new.roles <> '[]'
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'organization_user.added', json_object('organization_user_id', new.id),
    new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_organization_user_changed`
AFTER UPDATE OF roles, display_name, email, assists_changes ON `organization_users`
WHEN (old.roles = '[]') = (new.roles = '[]')
  AND (old.roles <> new.roles OR old.display_name <> new.display_name OR old.email IS NOT new.email
    OR old.assists_changes <> new.assists_changes)
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'organization_user.updated', json_object('organization_user_id', new.id),
    new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_organization_user_updated` AFTER UPDATE OF roles ON `organization_users`
WHEN (old.roles = '[]') <> (new.roles = '[]')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id,
    iif(new.roles = '[]', 'organization_user.removed', 'organization_user.added'),
    json_object('organization_user_id', new.id), new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `usage_of_access_log` AFTER INSERT ON `access_logs` WHEN new.quota = 1
BEGIN
  INSERT INTO organization_days (organization_id, date, api_client_id, access_log_entries)
  VALUES
    (new.organization_id, date(new.at / 1000, 'unixepoch'), 0, 1),
    (new.organization_id, date(new.at / 1000, 'unixepoch'), new.api_client_id, 1)
  ON CONFLICT DO UPDATE SET access_log_entries = access_log_entries + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_entries_bounded` AFTER UPDATE OF access_log_entries ON `organization_days`
WHEN new.access_log_entries > iif(new.api_client_id = 0, 200000, 200000 * 0.5)
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: access log entries', 'quota of a client: access log entries'));
END;
--> statement-breakpoint
CREATE TRIGGER `usage_writes_bounded` AFTER UPDATE OF writes ON `organization_days`
WHEN new.writes > iif(new.api_client_id = 0, 20000, 20000 * 0.5)
BEGIN
  SELECT raise(ABORT, iif(new.api_client_id = 0, 'quota: writes', 'quota of a client: writes'));
END;
--> statement-breakpoint
CREATE TRIGGER `reserve_of_access_log` AFTER INSERT ON `access_logs` WHEN new.quota > 1
BEGIN
  INSERT INTO organization_days (organization_id, date, reserved)
  VALUES (new.organization_id, date(new.at / 1000, 'unixepoch'), 1)
  ON CONFLICT DO UPDATE SET reserved = reserved + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `sign_ins_bounded` BEFORE UPDATE OF sign_ins ON `organization_days` WHEN new.sign_ins > 200000
BEGIN
  SELECT raise(ABORT, 'reserve: sign-ins');
END;
--> statement-breakpoint
CREATE TRIGGER `reserved_bounded` BEFORE UPDATE OF reserved ON `organization_days` WHEN new.reserved > 20000
BEGIN
  SELECT raise(ABORT, 'reserve: other requests');
END;
--> statement-breakpoint
CREATE TRIGGER `mails_bounded` BEFORE UPDATE OF mails ON `organization_days` WHEN new.mails > 2000
BEGIN
  SELECT raise(ABORT, 'quota: mails');
END;
--> statement-breakpoint
CREATE TRIGGER `call_texts_deleted` AFTER DELETE ON `call_texts`
BEGIN
  SELECT raise(ABORT, 'the text of a call is deleted with an entry of the access log')
  WHERE NOT EXISTS (
    SELECT 1 FROM access_logs
    WHERE organization_id = old.organization_id AND call_id = old.call_id AND resource = old.kind AND event = 'delete'
  );
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, old.kind || '.deleted', json_object('organization_user_id', organization_user_id, 'call_id', id),
    cast(unixepoch('subsec') * 1000 AS INTEGER)
  FROM calls WHERE id = old.call_id;
  UPDATE calls SET transcript_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE id = old.call_id AND old.kind = 'transcript';
  UPDATE calls SET soap_note_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE id = old.call_id AND old.kind = 'soap_note';
END;
--> statement-breakpoint
CREATE TRIGGER `call_texts_not_restored` BEFORE INSERT ON `call_texts`
WHEN (SELECT iif(new.kind = 'transcript', transcript_deleted_at, soap_note_deleted_at) FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the text of the call was deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `events_call_text_created` AFTER INSERT ON `call_texts` WHEN new.is_final
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || '.finalized',
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `events_call_text_updated` AFTER UPDATE OF is_final, corrections ON `call_texts`
WHEN (new.is_final AND NOT old.is_final) OR new.corrections > old.corrections
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || iif(new.corrections > old.corrections, '.corrected', '.finalized'),
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE VIEW `named_files` AS
SELECT NULL AS organization_id, NULL AS storage_key, NULL AS egress_id;
--> statement-breakpoint
CREATE TRIGGER `egress_file_named` INSTEAD OF INSERT ON `named_files`
BEGIN
  INSERT INTO egress_files (organization_id, storage_key, egress_id)
  VALUES (new.organization_id, new.storage_key, new.egress_id)
  ON CONFLICT DO UPDATE SET is_deleted = false WHERE egress_id = excluded.egress_id;
  SELECT raise(ABORT, 'the file is of another recording') FROM egress_files
  WHERE organization_id = new.organization_id AND storage_key = new.storage_key AND egress_id <> new.egress_id;
  UPDATE egresses SET deletion_requested_by = 1, deletion_due_at = 0
  WHERE id = new.egress_id AND status = 'egress_deleted';
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_file_named` AFTER INSERT ON `egresses`
WHEN new.storage_key IS NOT NULL
BEGIN
  INSERT INTO named_files VALUES (new.organization_id, new.storage_key, new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_file_renamed` AFTER UPDATE OF storage_key ON `egresses`
WHEN new.storage_key IS NOT NULL AND new.storage_key IS NOT old.storage_key
BEGIN
  INSERT INTO named_files VALUES (new.organization_id, new.storage_key, new.id);
END;
--> statement-breakpoint
CREATE VIEW `visible_recordings` AS
SELECT egresses.id, egresses.call_id, egresses.status, egresses.is_announced
FROM egresses JOIN calls ON calls.id = egresses.call_id
WHERE calls.ended_at IS NOT NULL
  -- A recording that came to the call after the deletion of the call's recordings.
  AND (calls.recordings_deleted_at IS NULL OR egresses.created_at < calls.recordings_deleted_at)
  -- The lowest value in the index, which sorts NULL before 0, and 0 before 1. Without participants, it is NULL too.
  AND (
    SELECT recording_consent FROM participants
    WHERE participants.call_id = egresses.call_id
    ORDER BY recording_consent LIMIT 1
  )
  AND NOT EXISTS (
    SELECT 1 FROM early_refusals
    WHERE early_refusals.organization_id = calls.organization_id AND early_refusals.call_key = calls.key AND came
  );
--> statement-breakpoint
CREATE TRIGGER `egresses_of_call_claimed` AFTER INSERT ON `calls`
BEGIN
  UPDATE egresses SET call_id = new.id, updated_at = new.created_at
  WHERE organization_id = new.organization_id AND call_key = new.key AND call_id IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `egress_stops_refused` AFTER UPDATE OF recording_consent, call_id ON `participants`
WHEN new.recording_consent = 0 AND new.call_id IS NOT NULL
  AND (old.recording_consent IS NOT new.recording_consent OR old.call_id IS NOT new.call_id)
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at
  WHERE call_id = new.call_id AND NOT is_stopped AND status IN ('egress_starting', 'egress_active');
END;
--> statement-breakpoint
CREATE TRIGGER `egress_stops_inserted` AFTER INSERT ON `egresses`
WHEN new.status IN ('egress_starting', 'egress_active') AND NOT new.is_stopped
  AND (
    EXISTS (SELECT 1 FROM participants WHERE call_id = new.call_id AND recording_consent = 0)
    OR EXISTS (
      SELECT 1 FROM early_refusals
      WHERE organization_id = new.organization_id AND came
        AND call_key IN (new.call_key, (SELECT key FROM calls WHERE calls.id = new.call_id))
    )
  )
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `egress_stops_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NOT new.call_id AND new.status IN ('egress_starting', 'egress_active') AND NOT new.is_stopped
  AND EXISTS (SELECT 1 FROM participants WHERE call_id = new.call_id AND recording_consent = 0)
BEGIN
  UPDATE egresses SET stop_due_at = new.updated_at WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_deleted` AFTER UPDATE OF status ON `egresses`
WHEN new.status = 'egress_deleted' AND old.status <> 'egress_deleted' AND old.deletion_requested_by IS NULL
BEGIN
  UPDATE calls SET recordings_deleted_at = new.updated_at WHERE id = new.call_id AND recordings_deleted_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_not_restored` AFTER INSERT ON `egresses`
WHEN (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  UPDATE egresses SET deletion_due_at = new.created_at WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_not_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL AND (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  UPDATE egresses SET deletion_due_at = new.updated_at, created_at = new.updated_at WHERE id = new.id;
END;
--> statement-breakpoint
CREATE VIEW `events_new_egresses` AS
SELECT NULL AS egress_id, NULL AS at;
--> statement-breakpoint
CREATE TRIGGER `events_new_egress` INSTEAD OF INSERT ON `events_new_egresses`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT calls.organization_id, 'egress.started', json_object('organization_user_id', organization_user_id,
    'call_id', calls.id, 'egress_id', egresses.id), new.at
  FROM egresses JOIN calls ON calls.id = egresses.call_id WHERE egresses.id = new.egress_id;
  INSERT INTO events_recordings SELECT call_id, new.at FROM egresses WHERE id = new.egress_id AND status = 'egress_ended';
END;
--> statement-breakpoint
CREATE TRIGGER `events_egress_started` AFTER INSERT ON `egresses`
BEGIN
  INSERT INTO events_new_egresses VALUES (new.id, new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_egress_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL AND (SELECT recordings_deleted_at FROM calls WHERE id = new.call_id) IS NULL
BEGIN
  INSERT INTO events_new_egresses VALUES (new.id, new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_egress_updated` AFTER UPDATE OF status ON `egresses`
WHEN old.call_id IS NOT NULL AND old.status <> new.status AND new.status IN ('egress_ended', 'egress_deleted')
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'egress.deleted',
    json_object('organization_user_id', organization_user_id, 'call_id', new.call_id, 'egress_id', new.id),
    new.updated_at
  FROM calls WHERE id = new.call_id AND new.status = 'egress_deleted';
  INSERT INTO events_recordings SELECT new.call_id, new.updated_at WHERE new.status = 'egress_ended';
END;
--> statement-breakpoint
CREATE VIEW `events_recordings` AS
SELECT NULL AS call_id, NULL AS at;
--> statement-breakpoint
CREATE TRIGGER `events_recording` INSTEAD OF INSERT ON `events_recordings`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT calls.organization_id, 'egress.ended', json_object('organization_user_id', organization_user_id,
    'call_id', calls.id, 'egress_id', visible_recordings.id), new.at
  FROM visible_recordings JOIN calls ON calls.id = call_id
  WHERE call_id = new.call_id AND status = 'egress_ended' AND NOT is_announced
  ORDER BY visible_recordings.id;
  UPDATE egresses SET is_announced = 1
  WHERE id IN (
    SELECT id FROM visible_recordings WHERE call_id = new.call_id AND status = 'egress_ended' AND NOT is_announced
  );
END;
--> statement-breakpoint
CREATE TRIGGER `events_recording_consented` AFTER UPDATE OF recording_consent ON `participants`
WHEN new.recording_consent AND new.call_id IS NOT NULL
BEGIN
  INSERT INTO events_recordings VALUES (new.call_id, new.updated_at);
END;
--> statement-breakpoint
CREATE VIEW `retention` AS
SELECT 'egress' AS result, id, call_id, call_ended_at, is_held FROM egresses
UNION ALL SELECT kind, id, call_id, call_ended_at, is_held FROM call_texts;
--> statement-breakpoint
CREATE VIEW `retained_calls` AS
SELECT id, ended_at, EXISTS (
    SELECT 1 FROM legal_holds WHERE call_id = calls.id AND legal_holds.ended_at IS NULL
  ) AS is_held
FROM calls;
--> statement-breakpoint
CREATE VIEW `retention_changes` AS
SELECT NULL AS call_id;
--> statement-breakpoint
CREATE TRIGGER `retention_change` INSTEAD OF INSERT ON `retention_changes`
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE call_id = new.call_id;
  UPDATE call_texts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE call_id = new.call_id;
END;
--> statement-breakpoint
CREATE TRIGGER `calls_retention_updated` AFTER UPDATE OF ended_at ON `calls`
WHEN old.ended_at IS NOT new.ended_at
BEGIN
  INSERT INTO retention_changes VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `legal_holds_retention_inserted` AFTER INSERT ON `legal_holds`
BEGIN
  INSERT INTO retention_changes VALUES (new.call_id);
END;
--> statement-breakpoint
CREATE TRIGGER `legal_holds_retention_updated` AFTER UPDATE OF ended_at ON `legal_holds`
BEGIN
  INSERT INTO retention_changes VALUES (new.call_id);
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_retention_inserted` AFTER INSERT ON `egresses`
WHEN new.call_id IS NOT NULL
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_retention_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `call_texts_retention_inserted` AFTER INSERT ON `call_texts`
BEGIN
  UPDATE call_texts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `people_references_changed` AFTER UPDATE OF reference_digest ON `people`
WHEN old.reference_digest IS NOT new.reference_digest
BEGIN
  INSERT INTO former_references (organization_id, reference_digest, person_id)
  SELECT old.organization_id, old.reference_digest, old.id WHERE old.reference_digest IS NOT NULL
  ON CONFLICT DO NOTHING;
  UPDATE participants SET reference_digest = new.reference_digest WHERE person_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `people_references_inserted` BEFORE INSERT ON `people`
WHEN (new.external_reference IS NULL) <> (new.reference_digest IS NULL)
BEGIN
  SELECT raise(ABORT, 'a reference is stored with its digest');
END;
--> statement-breakpoint
CREATE TRIGGER `people_references_updated` BEFORE UPDATE OF external_reference, reference_digest ON `people`
WHEN (new.external_reference IS NULL) <> (new.reference_digest IS NULL)
  OR (old.external_reference IS NOT new.external_reference AND old.reference_digest IS new.reference_digest)
BEGIN
  SELECT raise(ABORT, 'a reference is stored with its digest');
END;
--> statement-breakpoint
CREATE TRIGGER `events_person_updated` AFTER UPDATE OF display_name, role, user_id, external_reference ON `people`
WHEN old.display_name <> new.display_name OR old.role <> new.role OR old.user_id IS NOT new.user_id
  OR old.external_reference IS NOT new.external_reference
BEGIN
  INSERT INTO events_of_participants
  SELECT 'participant.updated', id, new.updated_at FROM participants
  WHERE person_id = new.id AND erased_at IS NULL AND new.erased_at IS NULL;
  UPDATE visits SET corrections = corrections + 1 WHERE id = new.visit_id;
END;
--> statement-breakpoint
CREATE TRIGGER `people_erased_from_visit` AFTER UPDATE OF erased_at ON `people`
WHEN old.erased_at IS NULL AND new.erased_at IS NOT NULL AND (old.number IS NULL OR new.number IS NOT NULL)
BEGIN
  UPDATE visits SET external_reference = NULL, reference_erased_at = new.erased_at
  WHERE id = new.visit_id AND reference_erased_at IS NULL;
END;
--> statement-breakpoint
CREATE VIEW `computed_person_times` AS
SELECT people.id AS person_id, visits.starts_at AS visit_starts_at, iif(
    count(participants.id) > count(iif(participants.call_id IS NULL, participants.left_at, calls.ended_at))
      OR (people.erased_at IS NOT NULL AND count(participants.id) = count(participants.erased_at)),
    NULL,
    nullif(max(
      coalesce(max(iif(participants.call_id IS NULL, participants.left_at, calls.ended_at)), 0),
      coalesce(iif(visits.status = 'cancelled', min(visits.cancelled_at, visits.ends_at), visits.ends_at), 0)
    ), 0)
  ) AS over_at
FROM people LEFT JOIN visits ON visits.id = people.visit_id
LEFT JOIN participants ON participants.person_id = people.id
LEFT JOIN calls ON calls.id = participants.call_id
GROUP BY people.id;
--> statement-breakpoint
CREATE VIEW `person_times` AS
SELECT id AS person_id, visit_starts_at, over_at FROM people;
--> statement-breakpoint
CREATE VIEW `person_time_changes` AS
SELECT NULL AS person_id;
--> statement-breakpoint
CREATE TRIGGER `person_time_change` INSTEAD OF INSERT ON `person_time_changes`
BEGIN
  UPDATE people SET (visit_starts_at, over_at) =
    (SELECT visit_starts_at, over_at FROM computed_person_times WHERE person_id = new.person_id)
  WHERE id = new.person_id;
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_planned` AFTER INSERT ON `people` WHEN new.visit_id IS NOT NULL
BEGIN
  INSERT INTO person_time_changes VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_erased` AFTER UPDATE OF erased_at ON `people` WHEN old.erased_at IS NOT new.erased_at
BEGIN
  INSERT INTO person_time_changes VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_visit_moved` AFTER UPDATE OF starts_at, ends_at, status ON `visits`
WHEN old.starts_at <> new.starts_at OR old.ends_at <> new.ends_at OR new.status = 'cancelled'
BEGIN
  INSERT INTO person_time_changes SELECT id FROM people WHERE visit_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_participant_inserted` AFTER INSERT ON `participants`
BEGIN
  INSERT INTO person_time_changes VALUES (new.person_id);
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_participant_updated` AFTER UPDATE OF call_id, left_at, erased_at ON `participants`
WHEN old.call_id IS NOT new.call_id OR old.left_at IS NOT new.left_at OR old.erased_at IS NOT new.erased_at
BEGIN
  INSERT INTO person_time_changes VALUES (new.person_id);
END;
--> statement-breakpoint
CREATE TRIGGER `person_times_call_ended` AFTER UPDATE OF ended_at ON `calls`
WHEN old.ended_at IS NOT new.ended_at
BEGIN
  INSERT INTO person_time_changes SELECT person_id FROM participants WHERE call_id = new.id;
END;
--> statement-breakpoint
CREATE VIEW `visit_metric_changes` AS
SELECT NULL AS organization_id, NULL AS organization_user_id, NULL AS waiting_room_id, NULL AS starts_at, NULL AS before, NULL AS after;
--> statement-breakpoint
CREATE TRIGGER `visit_metric_change` INSTEAD OF INSERT ON `visit_metric_changes`
BEGIN
  INSERT INTO visit_daily_metrics (organization_id, organization_user_id, waiting_room_id, date, planned, held, missed, cancelled, quarters)
  SELECT new.organization_id, scope.member_id, scope.room_id, scope.date, planned, held, missed, cancelled,
    iif(scope.date = '', '{}', json_set('{}', '$.' || quarter, json_array(planned, held, missed, cancelled)))
  FROM (
    SELECT (new.after IS 'planned') - (new.before IS 'planned') AS planned,
      coalesce(new.after IN ('started', 'ended'), 0) - coalesce(new.before IN ('started', 'ended'), 0) AS held,
      (new.after IS 'missed') - (new.before IS 'missed') AS missed,
      (new.after IS 'cancelled') - (new.before IS 'cancelled') AS cancelled,
      -- Rounded down, also before 1970.
      new.starts_at / 900000 - (new.starts_at % 900000 < 0) AS quarter
  ) visit, (
    SELECT 0 AS member_id, 0 AS room_id, '' AS date
    UNION ALL
    SELECT member.id, room.id, date(new.starts_at / 1000.0, 'unixepoch')
    FROM (SELECT 0 AS id UNION ALL SELECT new.organization_user_id) member, (SELECT 0 AS id UNION ALL SELECT new.waiting_room_id) room
  ) scope
  WHERE scope.member_id IS NOT NULL
  ON CONFLICT (organization_id, organization_user_id, waiting_room_id, date) DO UPDATE SET
    planned = planned + excluded.planned,
    held = held + excluded.held,
    missed = missed + excluded.missed,
    cancelled = cancelled + excluded.cancelled,
    quarters = coalesce((
      SELECT json_set(quarters, fullkey, json_array(
        coalesce(quarters ->> (fullkey || '[0]'), 0) + excluded.planned,
        coalesce(quarters ->> (fullkey || '[1]'), 0) + excluded.held,
        coalesce(quarters ->> (fullkey || '[2]'), 0) + excluded.missed,
        coalesce(quarters ->> (fullkey || '[3]'), 0) + excluded.cancelled))
      FROM json_each(excluded.quarters)), quarters);
END;
--> statement-breakpoint
CREATE TRIGGER `visits_inserted` AFTER INSERT ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  VALUES (new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, NULL, new.status);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.created', json_object('visit_id', new.id), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `visits_updated` AFTER UPDATE OF organization_user_id, waiting_room_id, starts_at, status, updated_at ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  SELECT new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, old.status, new.status
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS (new.organization_user_id, new.waiting_room_id, new.starts_at)
    AND old.status <> new.status;
  INSERT INTO visit_metric_changes
  SELECT old.organization_id, old.organization_user_id, old.waiting_room_id, old.starts_at, old.status, NULL
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.starts_at)
  UNION ALL
  SELECT new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, NULL, new.status
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.starts_at);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.' || iif(new.status = old.status, 'updated', new.status),
    json_patch('{}', json_object('visit_id', new.id, 'call_id', iif(new.status <> old.status AND new.status = 'started', (
      SELECT call_id FROM participants
      WHERE visit_id = new.id AND call_id IS NOT NULL
      ORDER BY updated_at DESC LIMIT 1
    ), NULL))), new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_waiting_room_sub_created` AFTER INSERT ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_waiting_room_sub_updated`
AFTER UPDATE OF user_id, datetime_start, datetime_end ON `waiting_room_subs`
WHEN old.user_id IS NOT new.user_id
  OR old.datetime_start <> new.datetime_start
  OR old.datetime_end <> new.datetime_end
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_waiting_room_sub_deleted` AFTER DELETE ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (old.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', old.waiting_room_id, 'waiting_room_sub_id', old.id),
    cast(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_room_slugs_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_room_slugs_renamed` AFTER UPDATE OF slug ON `waiting_rooms` WHEN new.slug <> old.slug
BEGIN
  INSERT INTO waiting_room_slugs (slug, organization_id, waiting_room_id)
  VALUES (new.slug, new.organization_id, new.id);
END;
--> statement-breakpoint
CREATE TRIGGER `events_waiting_room_created` AFTER INSERT ON `waiting_rooms`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room.created', json_object('waiting_room_id', new.id), new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `events_waiting_room_updated` AFTER UPDATE OF name, slug, theme, is_active, retired_at ON `waiting_rooms`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type, json_object('waiting_room_id', new.id), new.updated_at
  FROM (
    SELECT iif(new.retired_at IS NOT NULL, 'waiting_room.retired', 'waiting_room.created') AS type
    WHERE (old.retired_at IS NULL) <> (new.retired_at IS NULL)
    UNION ALL
    SELECT 'waiting_room.updated'
    WHERE old.retired_at IS NULL AND new.retired_at IS NULL
      AND (old.name <> new.name OR old.slug <> new.slug OR old.theme <> new.theme OR old.is_active <> new.is_active)
  );
END;
--> statement-breakpoint
CREATE TRIGGER `access_logs_unchanged` BEFORE UPDATE ON `access_logs`
BEGIN
  SELECT raise(ABORT, 'entries of the access log are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `access_logs_not_replaced` BEFORE INSERT ON `access_logs`
WHEN EXISTS (SELECT 1 FROM access_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'entries of the access log are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `access_log_seals_unchanged` BEFORE UPDATE ON `access_log_seals`
BEGIN
  SELECT raise(ABORT, 'seals are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `access_log_seals_kept` BEFORE DELETE ON `access_log_seals`
BEGIN
  SELECT raise(ABORT, 'seals are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `consents_unchanged` BEFORE UPDATE ON `consents`
BEGIN
  SELECT raise(ABORT, 'consents are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `consents_kept` BEFORE DELETE ON `consents`
BEGIN
  SELECT raise(ABORT, 'consents are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `consents_not_replaced` BEFORE INSERT ON `consents`
WHEN EXISTS (SELECT 1 FROM consents WHERE id = new.id OR (participant_id = new.participant_id AND reporter = new.reporter AND decision = new.decision AND case when said_at is null then decided_at else said_at end = coalesce(new.said_at, new.decided_at)))
BEGIN
  SELECT raise(ABORT, 'consents are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `egress_audit_logs_unchanged` BEFORE UPDATE ON `egress_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `egress_audit_logs_kept` BEFORE DELETE ON `egress_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `egress_audit_logs_not_replaced` BEFORE INSERT ON `egress_audit_logs`
WHEN EXISTS (SELECT 1 FROM egress_audit_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `events_unchanged` BEFORE UPDATE ON `events`
BEGIN
  SELECT raise(ABORT, 'events are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `legal_holds_kept` BEFORE DELETE ON `legal_holds`
BEGIN
  SELECT raise(ABORT, 'legal holds are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `legal_holds_not_replaced` BEFORE INSERT ON `legal_holds`
WHEN EXISTS (SELECT 1 FROM legal_holds WHERE id = new.id OR (call_id = new.call_id AND ended_at IS NULL))
BEGIN
  SELECT raise(ABORT, 'legal holds are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_created` AFTER INSERT ON `egresses`
WHEN new.call_id IS NOT NULL
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'create', coalesce(new.changed_by_user_id, 1),
    json_group_object(field, json_array(NULL, new_value)), new.created_at
  FROM (
    SELECT 'egress_id' AS field, new.egress_id AS new_value
    UNION ALL SELECT 'status', new.status
    UNION ALL SELECT 'error', new.error
    UNION ALL SELECT 'is_stopped', new.is_stopped
    UNION ALL SELECT 'ended_at', new.ended_at
  )
  WHERE new_value IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'create', coalesce(new.changed_by_user_id, 1),
    json_group_object(field, json_array(NULL, new_value)), new.updated_at
  FROM (
    SELECT 'egress_id' AS field, new.egress_id AS new_value
    UNION ALL SELECT 'status', new.status
    UNION ALL SELECT 'error', new.error
    UNION ALL SELECT 'is_stopped', new.is_stopped
    UNION ALL SELECT 'ended_at', new.ended_at
  )
  WHERE new_value IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `egresses_updated` AFTER UPDATE ON `egresses`
WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'update', coalesce(new.changed_by_user_id, 1),
    json_group_object(field, json_array(old_value, new_value)), max(new.updated_at, coalesce((SELECT max(created_at) FROM egress_audit_logs WHERE egress_id = new.id), 0))
  FROM (
    SELECT 'egress_id' AS field, old.egress_id AS old_value, new.egress_id AS new_value
    UNION ALL SELECT 'status', old.status, new.status
    UNION ALL SELECT 'error', old.error, new.error
    UNION ALL SELECT 'is_stopped', old.is_stopped, new.is_stopped
    UNION ALL SELECT 'ended_at', old.ended_at, new.ended_at
  )
  WHERE old_value IS NOT new_value
  HAVING count(*) > 0;
END;
--> statement-breakpoint
CREATE TRIGGER `events_organization_updated` AFTER UPDATE OF name, slug, recording_retention_days, transcript_retention_days, participant_retention_days, require_acting_user, time_zone, patient_identifier_system, is_suspended ON `organizations`
WHEN old.name IS NOT new.name OR old.slug IS NOT new.slug OR old.recording_retention_days IS NOT new.recording_retention_days OR old.transcript_retention_days IS NOT new.transcript_retention_days OR old.participant_retention_days IS NOT new.participant_retention_days OR old.require_acting_user IS NOT new.require_acting_user OR old.time_zone IS NOT new.time_zone OR old.patient_identifier_system IS NOT new.patient_identifier_system OR old.is_suspended IS NOT new.is_suspended
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.id, 'organization.updated', '{}', new.updated_at);
END;

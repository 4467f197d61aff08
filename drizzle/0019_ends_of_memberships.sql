CREATE INDEX `api_clients_of_member` ON `api_clients` (`organization_user_id`) WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX `waiting_room_subs_held` ON `waiting_room_subs` (`organization_id`,`user_id`) WHERE user_id is not null;

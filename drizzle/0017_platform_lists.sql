CREATE INDEX `api_clients_listed` ON `api_clients` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `issuers_listed` ON `issuers` (`organization_id`,`id`);

DROP INDEX `bulk_invite_rows_pending`;--> statement-breakpoint
CREATE INDEX `bulk_invite_rows_by_status` ON `bulk_invite_rows` (`bulk_invite_id`,`status`,`row`);

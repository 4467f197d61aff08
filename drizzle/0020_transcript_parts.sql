CREATE TABLE `transcript_parts` (
	`organization_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`part` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`call_id`, `part`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`call_id`) REFERENCES `transcripts`(`call_id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`call_id`) REFERENCES `calls`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `transcripts` ADD `first_line_id` integer;
--> statement-breakpoint
-- Lines keep their ids when they move into parts, and new lines go on from there: the sequence of the old table gives all
-- ids, to the previous version of the service too. A database that never had a line has no sequence yet.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'transcript_lines', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'transcript_lines');

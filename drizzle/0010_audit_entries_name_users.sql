-- An audit entry names somebody. Entries that name nobody get the user whom an earlier report of their egress named,
-- or else who held its call. Entries are never changed, but here: so their triggers go first, and come back at the end.
-- Triggers that have nothing to do with audit entries stay as they are.
DROP TRIGGER `egresses_created`;
--> statement-breakpoint
DROP TRIGGER `egresses_updated`;
--> statement-breakpoint
DROP TRIGGER `egress_audit_logs_unchanged`;
--> statement-breakpoint
DROP TRIGGER `egress_audit_logs_kept`;
--> statement-breakpoint
DROP TRIGGER `egress_audit_logs_not_replaced`;
--> statement-breakpoint
DROP TRIGGER `egress_audit_logs_listed_inserted`;
--> statement-breakpoint
-- What had forgotten who was named, because a later report named nobody, knows it again.
UPDATE egresses SET changed_by_user_id = (
  SELECT user_id FROM egress_audit_logs
  WHERE egress_audit_logs.egress_id = egresses.id AND event <> 'read' AND user_id IS NOT NULL
  ORDER BY egress_audit_logs.id DESC LIMIT 1
)
WHERE changed_by_user_id IS NULL;
--> statement-breakpoint
UPDATE egress_audit_logs SET user_id = coalesce(
  (
    SELECT earlier.user_id FROM egress_audit_logs earlier
    WHERE earlier.egress_id = egress_audit_logs.egress_id AND earlier.event <> 'read'
      AND earlier.id < egress_audit_logs.id AND earlier.user_id IS NOT NULL
    ORDER BY earlier.id DESC LIMIT 1
  ),
  (
    SELECT organization_users.user_id FROM egresses
    JOIN calls ON calls.id = egresses.call_id
    JOIN organization_users ON organization_users.id = calls.organization_user_id
    WHERE egresses.id = egress_audit_logs.egress_id
  )
)
WHERE user_id IS NULL;
--> statement-breakpoint
-- The old table is renamed, not the new one: SQLite writes a name that it changes in double quotes.
DROP INDEX `egress_audit_logs_newest`;
--> statement-breakpoint
ALTER TABLE `egress_audit_logs` RENAME TO `old_egress_audit_logs`;
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
INSERT INTO egress_audit_logs (id, organization_id, egress_id, event, user_id, object_changes, created_at)
SELECT id, organization_id, egress_id, event, user_id, object_changes, created_at FROM old_egress_audit_logs;
--> statement-breakpoint
DELETE FROM sqlite_sequence WHERE name = 'egress_audit_logs';
--> statement-breakpoint
INSERT INTO sqlite_sequence SELECT 'egress_audit_logs', seq FROM sqlite_sequence WHERE name = 'old_egress_audit_logs';
--> statement-breakpoint
DROP TABLE `old_egress_audit_logs`;
--> statement-breakpoint
CREATE INDEX `egress_audit_logs_newest` ON `egress_audit_logs` (`egress_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE TRIGGER `egresses_created` AFTER INSERT ON `egresses`
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'create', coalesce(new.changed_by_user_id, (
      SELECT user_id FROM organization_users
      WHERE id = (SELECT organization_user_id FROM calls WHERE id = new.call_id)
    )),
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
CREATE TRIGGER `egresses_updated` AFTER UPDATE ON `egresses`
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'update', coalesce(new.changed_by_user_id, (
      SELECT user_id FROM organization_users
      WHERE id = (SELECT organization_user_id FROM calls WHERE id = new.call_id)
    )),
    json_group_object(field, json_array(old_value, new_value)), new.updated_at
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
CREATE TRIGGER `egress_audit_logs_listed_inserted` AFTER INSERT ON `egress_audit_logs`
BEGIN
  INSERT INTO list_changes VALUES ('egress_audit_logs:' || new.event, new.egress_id, 1);
END;

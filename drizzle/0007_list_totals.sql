-- What there is already.
INSERT INTO list_totals
  SELECT 'waiting_rooms', organization_id, count(*) FROM waiting_rooms WHERE retired_at IS NULL GROUP BY 2
  UNION ALL SELECT 'organization_users', organization_id, count(*) FROM organization_users GROUP BY 2
  UNION ALL SELECT 'invites', organization_id, count(*) FROM invites WHERE used_at IS NULL GROUP BY 2
  UNION ALL SELECT 'calls', organization_user_id, count(*) FROM calls GROUP BY 2
  UNION ALL SELECT 'egress_audit_logs:' || event, egress_id, count(*) FROM egress_audit_logs GROUP BY 1, 2;
--> statement-breakpoint
-- Nothing is stored here: an insert adds to a total, or takes off it, by its sign.
CREATE VIEW `list_changes` AS
SELECT NULL AS list, NULL AS owner_id, NULL AS sign;
--> statement-breakpoint
CREATE TRIGGER `list_change` INSTEAD OF INSERT ON `list_changes`
BEGIN
  INSERT INTO list_totals VALUES (new.list, new.owner_id, new.sign)
  ON CONFLICT (list, owner_id) DO UPDATE SET total = total + excluded.total;
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_rooms_listed_inserted` AFTER INSERT ON `waiting_rooms` WHEN new.retired_at IS NULL
BEGIN
  INSERT INTO list_changes VALUES ('waiting_rooms', new.organization_id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_rooms_listed_updated` AFTER UPDATE OF retired_at ON `waiting_rooms`
WHEN (old.retired_at IS NULL) <> (new.retired_at IS NULL)
BEGIN
  INSERT INTO list_changes VALUES ('waiting_rooms', new.organization_id, iif(new.retired_at IS NULL, 1, -1));
END;
--> statement-breakpoint
CREATE TRIGGER `waiting_rooms_listed_deleted` AFTER DELETE ON `waiting_rooms` WHEN old.retired_at IS NULL
BEGIN
  INSERT INTO list_changes VALUES ('waiting_rooms', old.organization_id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `organization_users_listed_inserted` AFTER INSERT ON `organization_users`
BEGIN
  INSERT INTO list_changes VALUES ('organization_users', new.organization_id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `organization_users_listed_deleted` AFTER DELETE ON `organization_users`
BEGIN
  INSERT INTO list_changes VALUES ('organization_users', old.organization_id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_inserted` AFTER INSERT ON `invites`
WHEN new.used_at IS NULL AND NOT new.is_lapsed
BEGIN
  INSERT INTO list_changes VALUES ('invites', new.organization_id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_updated` AFTER UPDATE OF used_at, is_lapsed ON `invites`
WHEN (old.used_at IS NULL AND NOT old.is_lapsed) <> (new.used_at IS NULL AND NOT new.is_lapsed)
BEGIN
  INSERT INTO list_changes
  VALUES ('invites', new.organization_id, iif(new.used_at IS NULL AND NOT new.is_lapsed, 1, -1));
END;
--> statement-breakpoint
CREATE TRIGGER `invites_listed_deleted` AFTER DELETE ON `invites`
WHEN old.used_at IS NULL AND NOT old.is_lapsed
BEGIN
  INSERT INTO list_changes VALUES ('invites', old.organization_id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_listed_inserted` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO list_changes VALUES ('calls', new.organization_user_id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_listed_updated` AFTER UPDATE OF organization_user_id ON `calls`
WHEN old.organization_user_id <> new.organization_user_id
BEGIN
  INSERT INTO list_changes VALUES ('calls', old.organization_user_id, -1), ('calls', new.organization_user_id, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `calls_listed_deleted` AFTER DELETE ON `calls`
BEGIN
  INSERT INTO list_changes VALUES ('calls', old.organization_user_id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `egress_audit_logs_listed_inserted` AFTER INSERT ON `egress_audit_logs`
BEGIN
  INSERT INTO list_changes VALUES ('egress_audit_logs:' || new.event, new.egress_id, 1);
END;

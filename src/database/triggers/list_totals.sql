-- list_totals says how long the lists are that can grow very long, so that a page does not count them again. Each list
-- has triggers for whatever makes a row enter or leave it. A row never moves to another organization, nor an audit entry
-- to another egress, so no trigger looks at those columns.

-- A procedure, which SQLite does not have: the view stores nothing; an insert with the sign 1 adds one to a total,
-- with -1 it takes one off.
CREATE VIEW `list_changes` AS
SELECT NULL AS list, NULL AS owner_id, NULL AS sign;

CREATE TRIGGER `list_change` INSTEAD OF INSERT ON `list_changes`
BEGIN
  INSERT INTO list_totals VALUES (new.list, new.owner_id, new.sign)
  ON CONFLICT (list, owner_id) DO UPDATE SET total = total + excluded.total;
END;

-- The invites that were not used, expired or not: no trigger fires when time passes.
CREATE TRIGGER `invites_listed_inserted` AFTER INSERT ON `invites`
WHEN new.used_at IS NULL
BEGIN
  INSERT INTO list_changes VALUES ('invites', new.organization_id, 1);
END;

CREATE TRIGGER `invites_listed_updated` AFTER UPDATE OF used_at ON `invites`
WHEN (old.used_at IS NULL) <> (new.used_at IS NULL)
BEGIN
  INSERT INTO list_changes VALUES ('invites', new.organization_id, iif(new.used_at IS NULL, 1, -1));
END;

CREATE TRIGGER `invites_listed_deleted` AFTER DELETE ON `invites`
WHEN old.used_at IS NULL
BEGIN
  INSERT INTO list_changes VALUES ('invites', old.organization_id, -1);
END;

-- Calls are listed by organization user. A corrected report can give a call to another one.
CREATE TRIGGER `calls_listed_inserted` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO list_changes VALUES ('calls', new.organization_user_id, 1);
END;

CREATE TRIGGER `calls_listed_updated` AFTER UPDATE OF organization_user_id ON `calls`
WHEN old.organization_user_id <> new.organization_user_id
BEGIN
  INSERT INTO list_changes VALUES ('calls', old.organization_user_id, -1), ('calls', new.organization_user_id, 1);
END;

CREATE TRIGGER `calls_listed_deleted` AFTER DELETE ON `calls`
BEGIN
  INSERT INTO list_changes VALUES ('calls', old.organization_user_id, -1);
END;

-- Counted by event, because the list can be filtered by it. Entries are never changed or deleted.
CREATE TRIGGER `egress_audit_logs_listed_inserted` AFTER INSERT ON `egress_audit_logs`
BEGIN
  INSERT INTO list_changes VALUES ('egress_audit_logs:' || new.event, new.egress_id, 1);
END;

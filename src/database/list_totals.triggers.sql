-- list_totals has the lengths of lists that can grow very long, so that a page need not count them again. Each list has triggers
-- for all changes that add a row to it or remove one. A row never moves to another organization, nor an audit entry to another
-- egress, so no trigger watches those columns.

-- The invites that were not used, including expired ones: no trigger fires when time passes.
CREATE TRIGGER `invites_listed_inserted` AFTER INSERT ON `invites`
WHEN new.used_at IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('invites', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `invites_listed_updated` AFTER UPDATE OF used_at ON `invites`
WHEN (old.used_at IS NULL) <> (new.used_at IS NULL)
BEGIN
  INSERT INTO list_totals VALUES ('invites', new.organization_id, iif(new.used_at IS NULL, 1, -1))
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `invites_listed_deleted` AFTER DELETE ON `invites`
WHEN old.used_at IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('invites', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

-- Counted by event, because the list can be filtered by event. Entries are never changed or deleted.
CREATE TRIGGER `egress_audit_logs_listed_inserted` AFTER INSERT ON `egress_audit_logs`
BEGIN
  INSERT INTO list_totals VALUES ('egress_audit_logs:' || new.event, new.egress_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

-- The rooms that an organization has created, including retired ones: slugs are never given out again, and the number of rooms is
-- limited (organization/usage/usage.refusals.ts). Personal rooms do not count, because the service creates them.
CREATE TRIGGER `waiting_rooms_made` AFTER INSERT ON `waiting_rooms` WHEN new.user_id IS NULL
BEGIN
  INSERT INTO list_totals VALUES ('waiting_rooms', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  SELECT raise(ABORT, 'quota: waiting rooms') FROM list_totals
  WHERE list = 'waiting_rooms' AND owner_id = new.organization_id AND total > {{MAX_WAITING_ROOMS}};
END;

-- The organizations of all databases: the directory has a place for each. The place of a deleted organization stays, but is not listed.
-- Counted by database, because the list can be filtered by region.
CREATE TRIGGER `places_listed_inserted` AFTER INSERT ON `places`
BEGIN
  INSERT INTO list_totals VALUES ('organizations', new.shard, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `places_listed_updated` AFTER UPDATE OF deleted_at, shard ON `places`
WHEN old.deleted_at IS NULL AND (new.deleted_at IS NOT NULL OR new.shard <> old.shard)
BEGIN
  INSERT INTO list_totals VALUES ('organizations', old.shard, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals VALUES ('organizations', new.shard, iif(new.deleted_at IS NULL, 1, 0))
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

-- Users whose membership has ended stay in their list, as do revoked API clients.
CREATE TRIGGER `organization_users_listed_inserted` AFTER INSERT ON `organization_users`
BEGIN
  INSERT INTO list_totals VALUES ('organization_users', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, new.organization_id, 1 FROM json_each(new.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

-- Users are also counted by role, because the list can be filtered by role.
CREATE TRIGGER `organization_users_listed_updated` AFTER UPDATE OF roles ON `organization_users`
WHEN old.roles <> new.roles
BEGIN
  INSERT INTO list_totals SELECT 'organization_users:' || value, old.organization_id, -1 FROM json_each(old.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, new.organization_id, 1 FROM json_each(new.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `organization_users_listed_deleted` AFTER DELETE ON `organization_users`
BEGIN
  INSERT INTO list_totals VALUES ('organization_users', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
  INSERT INTO list_totals SELECT 'organization_users:' || value, old.organization_id, -1 FROM json_each(old.roles) WHERE true
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `api_clients_listed_inserted` AFTER INSERT ON `api_clients`
BEGIN
  INSERT INTO list_totals VALUES ('api_clients', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `api_clients_listed_deleted` AFTER DELETE ON `api_clients`
BEGIN
  INSERT INTO list_totals VALUES ('api_clients', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `issuers_listed_inserted` AFTER INSERT ON `issuers`
BEGIN
  INSERT INTO list_totals VALUES ('issuers', new.organization_id, 1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

CREATE TRIGGER `issuers_listed_deleted` AFTER DELETE ON `issuers`
BEGIN
  INSERT INTO list_totals VALUES ('issuers', old.organization_id, -1)
  ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;

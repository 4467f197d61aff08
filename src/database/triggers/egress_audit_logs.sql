-- An egress is neither created nor changed without its audit entry, whatever code does it: so triggers write the
-- entries. An entry holds [old, new] for each audited field, as the column stores it, and never the storage key: a
-- change of nothing else writes no entry. It names the user whom the report of the change named, or else the System user.
-- The entries for reads are written by the service, because SQLite has no trigger for SELECT.

-- Generated from src/database/audited_fields.ts by `npm run db:triggers`: change the list there, not these lines.
CREATE TRIGGER `egresses_created` AFTER INSERT ON `egresses`
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

CREATE TRIGGER `egresses_updated` AFTER UPDATE ON `egresses`
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'update', coalesce(new.changed_by_user_id, 1),
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
-- End of the generated part.

-- Entries are never changed or deleted.
CREATE TRIGGER `egress_audit_logs_unchanged` BEFORE UPDATE ON `egress_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;

CREATE TRIGGER `egress_audit_logs_kept` BEFORE DELETE ON `egress_audit_logs`
BEGIN
  SELECT raise(ABORT, 'audit entries are never deleted');
END;

-- INSERT OR REPLACE deletes the old row without firing a DELETE trigger.
CREATE TRIGGER `egress_audit_logs_not_replaced` BEFORE INSERT ON `egress_audit_logs`
WHEN EXISTS (SELECT 1 FROM egress_audit_logs WHERE id = new.id)
BEGIN
  SELECT raise(ABORT, 'audit entries are never changed');
END;

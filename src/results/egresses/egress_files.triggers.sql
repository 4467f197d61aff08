-- No file is forgotten, whatever reports name and when. A file that a recording names, or ever named, always belongs to that
-- recording: another recording with the same file could show or delete it. A recording keeps all its files until it is deleted.

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert records the file of an egress, or fails.
-- A deleted file that is named again must be deleted again, and so must a file that a late report names for a deleted recording.
CREATE VIEW `named_files` AS
SELECT NULL AS organization_id, NULL AS storage_key, NULL AS egress_id;

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

CREATE TRIGGER `egresses_file_named` AFTER INSERT ON `egresses`
WHEN new.storage_key IS NOT NULL
BEGIN
  INSERT INTO named_files VALUES (new.organization_id, new.storage_key, new.id);
END;

CREATE TRIGGER `egresses_file_renamed` AFTER UPDATE OF storage_key ON `egresses`
WHEN new.storage_key IS NOT NULL AND new.storage_key IS NOT old.storage_key
BEGIN
  INSERT INTO named_files VALUES (new.organization_id, new.storage_key, new.id);
END;

-- No file is forgotten, whatever reports name and when.

-- A report that names another file leaves the old one behind. It goes when the recording goes.
CREATE TRIGGER `egresses_file_replaced` AFTER UPDATE OF storage_key ON `egresses`
WHEN old.storage_key IS NOT NULL AND old.storage_key IS NOT new.storage_key
BEGIN
  INSERT INTO replaced_files (organization_id, egress_id, storage_key)
  VALUES (new.organization_id, new.id, old.storage_key)
  ON CONFLICT DO NOTHING;
END;

-- A late report can name the file of a recording that was deleted already: then the file is still to be deleted.
CREATE TRIGGER `egresses_file_late` AFTER UPDATE OF storage_key ON `egresses`
WHEN new.status = 'egress_deleted' AND old.storage_key IS NOT new.storage_key
BEGIN
  UPDATE egresses SET deletion_requested = true, deletion_due_at = 0 WHERE id = new.id;
END;

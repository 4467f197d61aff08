-- A file that a recording names, or ever named, is its organization's for good: whoever else names it could read or delete
-- it. So triggers record every name, and refuse the write that gives a recording another organization's.

-- A procedure, which SQLite does not have: the view stores nothing; an insert records a name, or fails.
CREATE VIEW `storage_key_claims` AS
SELECT NULL AS storage_key, NULL AS organization_id;

CREATE TRIGGER `storage_key_claim` INSTEAD OF INSERT ON `storage_key_claims`
BEGIN
  INSERT INTO storage_keys (storage_key, organization_id) VALUES (new.storage_key, new.organization_id)
  ON CONFLICT DO NOTHING;
  SELECT raise(ABORT, 'the file is of another organization') FROM storage_keys
  WHERE storage_key = new.storage_key AND organization_id <> new.organization_id;
  -- An organization of another database has claimed it: see triggers/shards.sql.
  SELECT raise(ABORT, 'the key is claimed elsewhere') FROM locations
  WHERE kind = 'file' AND key = new.storage_key;
END;

CREATE TRIGGER `egresses_file_named` AFTER INSERT ON `egresses`
WHEN new.storage_key IS NOT NULL
BEGIN
  INSERT INTO storage_key_claims VALUES (new.storage_key, new.organization_id);
END;

CREATE TRIGGER `egresses_file_renamed` AFTER UPDATE OF storage_key ON `egresses`
WHEN new.storage_key IS NOT NULL AND new.storage_key IS NOT old.storage_key
BEGIN
  INSERT INTO storage_key_claims VALUES (new.storage_key, new.organization_id);
END;

-- Several databases must never give out the same ids: see src/database/shards.ts.

-- Every database except the first needs its own range of ids. The command that adds a database writes the range. A database without
-- a range refuses organizations, unless the directory says that they live in shard 0.
CREATE TRIGGER `organizations_want_range` BEFORE INSERT ON `organizations`
WHEN NOT EXISTS (SELECT 1 FROM places WHERE id = new.id AND shard = 0)
  AND NOT EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
BEGIN
  SELECT raise(ABORT, 'the database has no range of ids');
END;

-- The tables of several databases must not mix: see src/database/shards.ts.

-- A database other than the first has a range of its own for ids, or they would be those of others. Whoever makes the database
-- writes its range: without it, an organization is refused that does not live in the first one.
CREATE TRIGGER `organizations_want_range` BEFORE INSERT ON `organizations`
WHEN NOT EXISTS (SELECT 1 FROM places WHERE id = new.id AND shard = 0)
  AND NOT EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
BEGIN
  SELECT raise(ABORT, 'the database has no range of ids');
END;

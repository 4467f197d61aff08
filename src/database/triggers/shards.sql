-- The tables of several databases must not mix: see src/database/shards.ts. With one database, no condition here is true.

-- A database other than the first has a range of its own for ids, or they would be those of others. Whoever makes the
-- database writes its range; without it, the first organization is refused. The directory has the others' organizations too,
-- and their databases in `shards`.
CREATE TRIGGER `organizations_want_range` BEFORE INSERT ON `organizations`
WHEN new.shard <> 0
  AND NOT EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
  AND NOT EXISTS (SELECT 1 FROM shards WHERE shard = new.shard)
BEGIN
  SELECT raise(ABORT, 'the database has no range of ids');
END;

-- A binding that is mixed up with another one must not bring organizations into the wrong database.
CREATE TRIGGER `organizations_want_their_shard` BEFORE INSERT ON `organizations`
WHEN new.shard <> (SELECT value FROM database_settings WHERE name = 'shard')
BEGIN
  SELECT raise(ABORT, 'the database is that of another shard');
END;

-- The directory gives organizations and users their ids. Other databases only have copies.
CREATE TRIGGER `organizations_are_copies` AFTER INSERT ON `organizations`
WHEN new.id >> 32 = (SELECT value FROM database_settings WHERE name = 'range')
BEGIN
  SELECT raise(ABORT, 'the directory gives organizations their ids');
END;

CREATE TRIGGER `users_are_copies` AFTER INSERT ON `users`
WHEN new.id >> 32 = (SELECT value FROM database_settings WHERE name = 'range')
BEGIN
  SELECT raise(ABORT, 'the directory gives users their ids');
END;

-- A new organization is in the directory first.
CREATE TRIGGER `organizations_to_be_copied` AFTER INSERT ON `organizations`
WHEN new.shard <> 0 AND NOT EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
BEGIN
  INSERT INTO organization_outbox VALUES (new.id, new.created_at);
END;

-- The directory has a copy of the row, for the list of all organizations.
CREATE TRIGGER `organizations_copied` AFTER UPDATE ON `organizations`
WHEN new.shard <> 0 AND EXISTS (SELECT 1 FROM database_settings WHERE name = 'range')
BEGIN
  INSERT INTO organization_outbox VALUES (new.id, new.updated_at)
  ON CONFLICT DO UPDATE SET written_at = excluded.written_at;
END;

-- A key has one owner. One that an organization of another database has claimed cannot become one of the first database. In
-- other databases, what comes after its claim was dropped, or taken over, is refused too: their `locations` are fences. The
-- request looks for the owner again (see src/directory/claims.ts).
CREATE TRIGGER `calls_not_elsewhere` BEFORE INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM locations WHERE kind = 'call' AND key = new.key)
BEGIN
  SELECT raise(ABORT, 'the key is claimed elsewhere');
END;

CREATE TRIGGER `egresses_not_elsewhere` BEFORE INSERT ON `egresses`
WHEN EXISTS (SELECT 1 FROM locations WHERE kind = 'egress' AND key = new.egress_id)
BEGIN
  SELECT raise(ABORT, 'the key is claimed elsewhere');
END;

-- D1 has no interactive transactions, so only an error rolls back a batch. Inserting a row here raises an error with the row's
-- reason (see src/database/decide_and_write.ts). So the table is always empty.
CREATE TRIGGER `write_conflict` BEFORE INSERT ON `write_conflicts`
BEGIN
  SELECT raise(ABORT, new.reason);
END;

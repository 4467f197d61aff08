-- D1 has no interactive transactions: only an error rolls a batch back. A row here raises one, with the row's reason (see
-- src/database/decide_and_write.ts). So the table is always empty.
CREATE TRIGGER `write_conflict` BEFORE INSERT ON `write_conflicts`
BEGIN
  SELECT raise(ABORT, new.reason);
END;

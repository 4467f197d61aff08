-- D1 has no interactive transactions: only an error rolls a batch back. A row here raises one, which carries the row's
-- reason (see src/database/rules.ts). So the table is always empty.
CREATE TRIGGER `refuse` BEFORE INSERT ON `refusals`
BEGIN
  SELECT raise(ABORT, new.reason);
END;

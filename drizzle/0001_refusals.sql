-- A batch is rolled back only by an error: a row here raises one that carries the row's reason (see src/db/rules.ts).
CREATE TRIGGER `refuse` BEFORE INSERT ON `refusals`
BEGIN
  SELECT raise(ABORT, new.reason);
END;

-- The calls with a person's reference are listed newest first. So each participant has a copy of the call's start and of the digest of the
-- person's reference, in one index. Otherwise each page would read and sort all calls of the person.

-- The copies. Only the test of the rebuild reads this view.
CREATE VIEW `copies` AS
SELECT id AS participant_id, call_id, call_started_at, reference_digest FROM participants;

CREATE TRIGGER `copies_moved` AFTER UPDATE OF started_at ON `calls`
WHEN old.started_at <> new.started_at
BEGIN
  UPDATE participants SET call_started_at = new.started_at WHERE call_id = new.id;
END;

CREATE TRIGGER `copies_inserted` AFTER INSERT ON `participants`
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id),
    reference_digest = (SELECT reference_digest FROM people WHERE id = new.person_id)
  WHERE id = new.id;
END;

-- A report writes the whole row, with the values that it read before. They may have changed in the meantime.
CREATE TRIGGER `copies_updated` AFTER UPDATE OF call_id, call_started_at, reference_digest ON `participants`
WHEN new.call_started_at IS NOT (SELECT started_at FROM calls WHERE id = new.call_id)
  OR new.reference_digest IS NOT (SELECT reference_digest FROM people WHERE id = new.person_id)
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id),
    reference_digest = (SELECT reference_digest FROM people WHERE id = new.person_id)
  WHERE id = new.id;
END;

-- The calls with a participant's reference are listed newest first. So each participant has a copy of the call's start, in the
-- index by reference. Otherwise each page would read and sort all calls with the reference.

-- The copies. Only the test of the rebuild reads this view.
CREATE VIEW `call_starts` AS
SELECT id AS participant_id, call_id, call_started_at FROM participants;

CREATE TRIGGER `call_starts_moved` AFTER UPDATE OF started_at ON `calls`
WHEN old.started_at <> new.started_at
BEGIN
  UPDATE participants SET call_started_at = new.started_at WHERE call_id = new.id;
END;

CREATE TRIGGER `call_starts_inserted` AFTER INSERT ON `participants`
WHEN new.call_started_at IS NOT (SELECT started_at FROM calls WHERE id = new.call_id)
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id) WHERE id = new.id;
END;

-- A report writes the whole row, with the start that it read before. The start may have changed in the meantime.
CREATE TRIGGER `call_starts_updated` AFTER UPDATE OF call_id, call_started_at ON `participants`
WHEN new.call_started_at IS NOT (SELECT started_at FROM calls WHERE id = new.call_id)
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id) WHERE id = new.id;
END;

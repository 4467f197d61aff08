-- The calls of a participant's reference are listed newest first. So each participant has a copy of the start of the call, in
-- the index that leads to them: otherwise all calls of a reference would be read and sorted for each page.

-- The copies: only the rebuild's test reads the view.
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

-- Also where a report writes the whole row, with the start that it has read.
CREATE TRIGGER `call_starts_updated` AFTER UPDATE OF call_id, call_started_at ON `participants`
WHEN new.call_started_at IS NOT (SELECT started_at FROM calls WHERE id = new.call_id)
BEGIN
  UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = new.call_id) WHERE id = new.id;
END;

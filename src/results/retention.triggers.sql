-- Recordings, transcripts and SOAP notes are deleted a number of days after their call has ended, and never under legal hold. So
-- each of these rows has a copy of the call's end and of whether it is held, in the indexes with which the cron finds the rows to
-- delete. A legal hold and the rows that it protects change in one transaction.

-- The rows with copies. Only the test of the rebuild reads this view.
CREATE VIEW `retention` AS
SELECT 'egress' AS result, id, call_id, call_ended_at, is_held FROM egresses
UNION ALL SELECT kind, id, call_id, call_ended_at, is_held FROM call_texts;

-- The values that are copied.
CREATE VIEW `retained_calls` AS
SELECT id, ended_at, EXISTS (
    SELECT 1 FROM legal_holds WHERE call_id = calls.id AND legal_holds.ended_at IS NULL
  ) AS is_held
FROM calls;

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert copies both values to all results of a call.
CREATE VIEW `retention_changes` AS
SELECT NULL AS call_id;

CREATE TRIGGER `retention_change` INSTEAD OF INSERT ON `retention_changes`
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE call_id = new.call_id;
  UPDATE call_texts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE call_id = new.call_id;
END;

CREATE TRIGGER `calls_retention_updated` AFTER UPDATE OF ended_at ON `calls`
WHEN old.ended_at IS NOT new.ended_at
BEGIN
  INSERT INTO retention_changes VALUES (new.id);
END;

CREATE TRIGGER `legal_holds_retention_inserted` AFTER INSERT ON `legal_holds`
BEGIN
  INSERT INTO retention_changes VALUES (new.call_id);
END;

CREATE TRIGGER `legal_holds_retention_updated` AFTER UPDATE OF ended_at ON `legal_holds`
BEGIN
  INSERT INTO retention_changes VALUES (new.call_id);
END;

CREATE TRIGGER `egresses_retention_inserted` AFTER INSERT ON `egresses`
WHEN new.call_id IS NOT NULL
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

CREATE TRIGGER `egresses_retention_claimed` AFTER UPDATE OF call_id ON `egresses`
WHEN old.call_id IS NULL
BEGIN
  UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

CREATE TRIGGER `call_texts_retention_inserted` AFTER INSERT ON `call_texts`
BEGIN
  UPDATE call_texts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = new.call_id)
  WHERE id = new.id;
END;

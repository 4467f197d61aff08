-- call_daily_metrics holds counts and sums, so that a year of metrics reads 366 rows however many calls there were.
-- Before a change, the old contribution of the call or participant is subtracted, and after it the new one is added. So
-- repeated and corrected reports are counted correctly, without any other code that knows about metrics.

-- The formulas: the contribution of each call, and of each recipient's wait for it, to the metrics. Each contribution counts
-- twice: for the call's organization user, and for the whole organization as organization user 0. The triggers below and the rebuild
-- (call_daily_metrics.rebuild.sql) both use these formulas.
CREATE VIEW `call_metric_contributions` AS
SELECT
  call.id AS call_id,
  NULL AS participant_id,
  call.organization_id,
  scope.factor * call.organization_user_id AS organization_user_id,
  date(call.started_at / 1000.0, 'unixepoch') AS date,
  1 AS total_calls,
  coalesce(call.failed, 0) AS failed_calls,
  call.ended_at IS NOT NULL AND NOT call.end_is_assumed AS ended_calls,
  iif(call.ended_at IS NOT NULL AND NOT call.end_is_assumed, call.ended_at - call.started_at, 0) AS duration_ms,
  0 AS waits,
  0 AS wait_ms
FROM calls call, (SELECT 0 AS factor UNION ALL SELECT 1) scope
UNION ALL
SELECT
  call.id,
  participant.id,
  call.organization_id,
  scope.factor * call.organization_user_id,
  date(call.started_at / 1000.0, 'unixepoch'),
  0, 0, 0, 0,
  1,
  max(0, call.started_at - participant.waiting_since)
FROM participants participant
JOIN calls call ON call.id = participant.call_id
JOIN people person ON person.id = participant.person_id
JOIN (SELECT 0 AS factor UNION ALL SELECT 1) scope
WHERE person.role = 'recipient' AND participant.waiting_since IS NOT NULL;

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert with the sign 1 adds the contributions
-- of a call, or with a participant_id only those of the participant. The sign -1 subtracts them.
CREATE VIEW `call_metric_changes` AS
SELECT NULL AS call_id, NULL AS participant_id, NULL AS sign;

CREATE TRIGGER `call_metric_change` INSTEAD OF INSERT ON `call_metric_changes`
BEGIN
  INSERT INTO call_daily_metrics (organization_id, organization_user_id, date, total_calls, failed_calls,
    ended_calls, duration_ms, waits, wait_ms)
  SELECT organization_id, organization_user_id, date, new.sign * total_calls, new.sign * failed_calls,
    new.sign * ended_calls, new.sign * duration_ms, new.sign * waits, new.sign * wait_ms
  FROM call_metric_contributions contribution
  WHERE contribution.call_id = new.call_id AND (new.participant_id IS NULL OR contribution.participant_id = new.participant_id)
  ON CONFLICT (organization_id, organization_user_id, date) DO UPDATE SET
    total_calls = total_calls + excluded.total_calls,
    failed_calls = failed_calls + excluded.failed_calls,
    ended_calls = ended_calls + excluded.ended_calls,
    duration_ms = duration_ms + excluded.duration_ms,
    waits = waits + excluded.waits,
    wait_ms = wait_ms + excluded.wait_ms;
END;

-- Around an update, calls_updating subtracts the old contributions and calls_updated adds the new ones.
CREATE TRIGGER `calls_inserted` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;

CREATE TRIGGER `calls_updating`
BEFORE UPDATE OF organization_user_id, started_at, ended_at, end_is_assumed, failed ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (old.id, NULL, -1);
END;

CREATE TRIGGER `calls_updated`
AFTER UPDATE OF organization_user_id, started_at, ended_at, end_is_assumed, failed ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;

CREATE TRIGGER `calls_deleting` BEFORE DELETE ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (old.id, NULL, -1);
END;

-- A participant counts once they are on a call.
CREATE TRIGGER `participants_inserted` AFTER INSERT ON `participants` WHEN new.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (new.call_id, new.id, 1);
END;

CREATE TRIGGER `participants_updating` BEFORE UPDATE OF call_id, waiting_since ON `participants`
WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;

CREATE TRIGGER `participants_updated` AFTER UPDATE OF call_id, waiting_since ON `participants`
WHEN new.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (new.call_id, new.id, 1);
END;

CREATE TRIGGER `participants_deleting` BEFORE DELETE ON `participants` WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;

CREATE TRIGGER `people_role_updating` BEFORE UPDATE OF role ON `people` WHEN old.role <> new.role
BEGIN
  INSERT INTO call_metric_changes
  SELECT call_id, id, -1 FROM participants WHERE person_id = old.id AND call_id IS NOT NULL;
END;

CREATE TRIGGER `people_role_updated` AFTER UPDATE OF role ON `people` WHEN old.role <> new.role
BEGIN
  INSERT INTO call_metric_changes
  SELECT call_id, id, 1 FROM participants WHERE person_id = new.id AND call_id IS NOT NULL;
END;

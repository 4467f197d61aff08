-- call_daily_metrics holds counts and sums, so that a year of metrics reads 366 rows however many calls there were.
-- Before a change, the old contribution of the call or participant is subtracted, and after it the new one is added. So
-- repeated and corrected reports are counted correctly, without any other code that knows about metrics.

-- The formulas: the contribution of each call, and of each recipient's wait for it, to the metrics. The triggers below and the
-- rebuild (call_daily_metrics.rebuild.sql) both use these formulas.
-- An insert adds the contribution that it names. It counts four times: for the organization user or (as 0) for all, in
-- the room or (as 0) in all. A date's sums stand also by quarter hour, from which days in other time zones are summed.
CREATE VIEW `call_metric_contributions` AS
SELECT
  call.id AS call_id,
  NULL AS participant_id,
  call.organization_id,
  call.organization_user_id,
  call.waiting_room_id,
  date(call.started_at / 1000.0, 'unixepoch') AS date,
  -- Rounded down, also before 1970.
  call.started_at / {{METRICS_QUARTER}} - (call.started_at % {{METRICS_QUARTER}} < 0) AS quarter,
  1 AS total_calls,
  coalesce(call.failed, 0) AS failed_calls,
  call.ended_at IS NOT NULL AND NOT call.end_is_assumed AS ended_calls,
  iif(call.ended_at IS NOT NULL AND NOT call.end_is_assumed, call.ended_at - call.started_at, 0) AS duration_ms,
  0 AS waits,
  0 AS wait_ms
FROM calls call
UNION ALL
SELECT
  call.id,
  participant.id,
  call.organization_id,
  call.organization_user_id,
  call.waiting_room_id,
  date(call.started_at / 1000.0, 'unixepoch'),
  call.started_at / {{METRICS_QUARTER}} - (call.started_at % {{METRICS_QUARTER}} < 0),
  0, 0, 0, 0,
  1,
  max(0, call.started_at - participant.waiting_since)
FROM participants participant
JOIN calls call ON call.id = participant.call_id
JOIN people person ON person.id = participant.person_id
WHERE person.role = 'recipient' AND participant.waiting_since IS NOT NULL;

CREATE TRIGGER `call_metric_contribution` INSTEAD OF INSERT ON `call_metric_contributions`
BEGIN
  INSERT INTO call_daily_metrics (organization_id, organization_user_id, waiting_room_id, date, total_calls, failed_calls,
    ended_calls, duration_ms, waits, wait_ms, quarters)
  SELECT new.organization_id, member.id, room.id, new.date, new.total_calls, new.failed_calls, new.ended_calls,
    new.duration_ms, new.waits, new.wait_ms, json_set('{}', '$.' || new.quarter, json_array(new.total_calls, new.failed_calls,
      new.ended_calls, new.duration_ms, new.waits, new.wait_ms))
  FROM (SELECT 0 AS id UNION ALL SELECT new.organization_user_id) member,
    (SELECT 0 AS id UNION ALL SELECT new.waiting_room_id) room
  WHERE true
  ON CONFLICT (organization_id, organization_user_id, waiting_room_id, date) DO UPDATE SET
    total_calls = total_calls + excluded.total_calls,
    failed_calls = failed_calls + excluded.failed_calls,
    ended_calls = ended_calls + excluded.ended_calls,
    duration_ms = duration_ms + excluded.duration_ms,
    waits = waits + excluded.waits,
    wait_ms = wait_ms + excluded.wait_ms,
    quarters = json_set(quarters, '$.' || new.quarter, json_array(
      coalesce(quarters ->> ('$.' || new.quarter || '[0]'), 0) + excluded.total_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[1]'), 0) + excluded.failed_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[2]'), 0) + excluded.ended_calls,
      coalesce(quarters ->> ('$.' || new.quarter || '[3]'), 0) + excluded.duration_ms,
      coalesce(quarters ->> ('$.' || new.quarter || '[4]'), 0) + excluded.waits,
      coalesce(quarters ->> ('$.' || new.quarter || '[5]'), 0) + excluded.wait_ms));
END;

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert with the sign 1 adds the contributions
-- of a call, or with a participant_id only those of the participant. The sign -1 subtracts them.
CREATE VIEW `call_metric_changes` AS
SELECT NULL AS call_id, NULL AS participant_id, NULL AS sign;

CREATE TRIGGER `call_metric_change` INSTEAD OF INSERT ON `call_metric_changes`
BEGIN
  INSERT INTO call_metric_contributions
  SELECT call_id, new.participant_id, organization_id, organization_user_id, waiting_room_id, date, quarter,
    new.sign * sum(total_calls), new.sign * sum(failed_calls), new.sign * sum(ended_calls),
    new.sign * sum(duration_ms), new.sign * sum(waits), new.sign * sum(wait_ms)
  FROM call_metric_contributions contribution
  WHERE contribution.call_id = new.call_id AND (new.participant_id IS NULL OR contribution.participant_id = new.participant_id)
  GROUP BY call_id;
END;

CREATE TRIGGER `calls_inserted` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;

-- Around an update that moves the call to other rows, calls_updating subtracts the old contributions and calls_updated adds the new
-- ones. Otherwise calls_ended adds the difference, so that the end of a call writes each row once.
CREATE TRIGGER `calls_updating` BEFORE UPDATE OF organization_user_id, waiting_room_id, started_at ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.started_at)
BEGIN
  INSERT INTO call_metric_changes VALUES (old.id, NULL, -1);
END;

CREATE TRIGGER `calls_updated` AFTER UPDATE OF organization_user_id, waiting_room_id, started_at ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.started_at)
BEGIN
  INSERT INTO call_metric_changes VALUES (new.id, NULL, 1);
END;

CREATE TRIGGER `calls_ended` AFTER UPDATE OF ended_at, end_is_assumed, failed ON `calls`
WHEN (old.organization_user_id, old.waiting_room_id, old.started_at) IS (new.organization_user_id, new.waiting_room_id, new.started_at)
  AND (old.ended_at, old.end_is_assumed, old.failed) IS NOT (new.ended_at, new.end_is_assumed, new.failed)
BEGIN
  INSERT INTO call_metric_contributions
  SELECT call_id, NULL, organization_id, organization_user_id, waiting_room_id, date, quarter, 0,
    failed_calls - coalesce(old.failed, 0),
    ended_calls - (old.ended_at IS NOT NULL AND NOT old.end_is_assumed),
    duration_ms - iif(old.ended_at IS NOT NULL AND NOT old.end_is_assumed, old.ended_at - old.started_at, 0), 0, 0
  FROM call_metric_contributions WHERE call_id = new.id AND participant_id IS NULL;
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
WHEN old.call_id IS NOT NULL AND (old.call_id, old.waiting_since) IS NOT (new.call_id, new.waiting_since)
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;

CREATE TRIGGER `participants_updated` AFTER UPDATE OF call_id, waiting_since ON `participants`
WHEN new.call_id IS NOT NULL AND (old.call_id, old.waiting_since) IS NOT (new.call_id, new.waiting_since)
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

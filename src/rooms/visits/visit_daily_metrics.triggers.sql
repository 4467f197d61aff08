-- The effects of a visit: its contribution to the metrics, and its events.

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert takes a visit out of the counts of the status
-- `before` and adds it to the counts of the status `after`; null means no status. A visit counts for its holder and (as 0) for all
-- holders, in its room and (as 0) in all rooms. A date's counts are also there by quarter hour, from which days in other time zones
-- are summed. For the quota, the whole organization also has a row for all dates, whose date is empty. The rebuild uses the view too.
CREATE VIEW `visit_metric_changes` AS
SELECT NULL AS organization_id, NULL AS organization_user_id, NULL AS waiting_room_id, NULL AS starts_at, NULL AS before, NULL AS after;

CREATE TRIGGER `visit_metric_change` INSTEAD OF INSERT ON `visit_metric_changes`
BEGIN
  INSERT INTO visit_daily_metrics (organization_id, organization_user_id, waiting_room_id, date, planned, held, missed, cancelled, quarters)
  SELECT new.organization_id, scope.member_id, scope.room_id, scope.date, planned, held, missed, cancelled,
    iif(scope.date = '', '{}', json_set('{}', '$.' || quarter, json_array(planned, held, missed, cancelled)))
  FROM (
    SELECT (new.after IS 'planned') - (new.before IS 'planned') AS planned,
      coalesce(new.after IN ('started', 'ended'), 0) - coalesce(new.before IN ('started', 'ended'), 0) AS held,
      (new.after IS 'missed') - (new.before IS 'missed') AS missed,
      (new.after IS 'cancelled') - (new.before IS 'cancelled') AS cancelled,
      -- Rounded down, also before 1970.
      new.starts_at / {{METRICS_QUARTER}} - (new.starts_at % {{METRICS_QUARTER}} < 0) AS quarter
  ) visit, (
    SELECT 0 AS member_id, 0 AS room_id, '' AS date
    UNION ALL
    SELECT member.id, room.id, date(new.starts_at / 1000.0, 'unixepoch')
    FROM (SELECT 0 AS id UNION ALL SELECT new.organization_user_id) member, (SELECT 0 AS id UNION ALL SELECT new.waiting_room_id) room
  ) scope
  WHERE scope.member_id IS NOT NULL
  ON CONFLICT (organization_id, organization_user_id, waiting_room_id, date) DO UPDATE SET
    planned = planned + excluded.planned,
    held = held + excluded.held,
    missed = missed + excluded.missed,
    cancelled = cancelled + excluded.cancelled,
    quarters = coalesce((
      SELECT json_set(quarters, fullkey, json_array(
        coalesce(quarters ->> (fullkey || '[0]'), 0) + excluded.planned,
        coalesce(quarters ->> (fullkey || '[1]'), 0) + excluded.held,
        coalesce(quarters ->> (fullkey || '[2]'), 0) + excluded.missed,
        coalesce(quarters ->> (fullkey || '[3]'), 0) + excluded.cancelled))
      FROM json_each(excluded.quarters)), quarters);
END;

CREATE TRIGGER `visits_inserted` AFTER INSERT ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  VALUES (new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, NULL, new.status);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.created', json_object('visit_id', new.id), new.created_at);
END;

-- Each change of the status, or by a client, writes one event. The erasure of names and a restore change none of these columns. A visit starts when its first recipient is on a call: that participant's row was written just before.
CREATE TRIGGER `visits_updated` AFTER UPDATE OF organization_user_id, waiting_room_id, starts_at, status, updated_at ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  SELECT new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, old.status, new.status
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS (new.organization_user_id, new.waiting_room_id, new.starts_at)
    AND old.status <> new.status;
  INSERT INTO visit_metric_changes
  SELECT old.organization_id, old.organization_user_id, old.waiting_room_id, old.starts_at, old.status, NULL
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.starts_at)
  UNION ALL
  SELECT new.organization_id, new.organization_user_id, new.waiting_room_id, new.starts_at, NULL, new.status
  WHERE (old.organization_user_id, old.waiting_room_id, old.starts_at) IS NOT (new.organization_user_id, new.waiting_room_id, new.starts_at);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.' || iif(new.status = old.status, 'updated', new.status),
    json_patch('{}', json_object('visit_id', new.id, 'call_id', iif(new.status <> old.status AND new.status = 'started', (
      SELECT call_id FROM participants
      WHERE visit_id = new.id AND call_id IS NOT NULL
      ORDER BY updated_at DESC LIMIT 1
    ), NULL))), new.updated_at);
END;

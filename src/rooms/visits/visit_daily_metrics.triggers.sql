-- The effects of a visit: its contribution to the metrics, and its events.

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert with the sign 1 adds a visit to the
-- counts of its holder, and of the whole organization as organization user 0. The sign -1 subtracts the visit. For the quota, the
-- whole organization also has a row for all dates, whose date is empty. The rebuild uses the view too.
CREATE VIEW `visit_metric_changes` AS
SELECT NULL AS organization_id, NULL AS organization_user_id, NULL AS starts_at, NULL AS status, NULL AS sign;

CREATE TRIGGER `visit_metric_change` INSTEAD OF INSERT ON `visit_metric_changes`
BEGIN
  INSERT INTO visit_daily_metrics (organization_id, organization_user_id, date, planned, held, missed, cancelled)
  SELECT new.organization_id, scope.id, scope.date,
    new.sign * (new.status = 'planned'), new.sign * (new.status IN ('started', 'ended')),
    new.sign * (new.status = 'missed'), new.sign * (new.status = 'cancelled')
  FROM (
    SELECT 0 AS id, '' AS date
    UNION ALL SELECT 0, date(new.starts_at / 1000.0, 'unixepoch')
    UNION ALL SELECT new.organization_user_id, date(new.starts_at / 1000.0, 'unixepoch')
  ) scope
  WHERE scope.id IS NOT NULL
  ON CONFLICT (organization_id, organization_user_id, date) DO UPDATE SET
    planned = planned + excluded.planned,
    held = held + excluded.held,
    missed = missed + excluded.missed,
    cancelled = cancelled + excluded.cancelled;
END;

CREATE TRIGGER `visits_inserted` AFTER INSERT ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  VALUES (new.organization_id, new.organization_user_id, new.starts_at, new.status, 1);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.created', json_object('visit_id', new.id), new.created_at);
END;

-- Each change of the status, or by a client, writes one event. The erasure of names and a restore change none of these columns. A visit starts when its first recipient is on a call: that participant's row was written just before.
CREATE TRIGGER `visits_updated` AFTER UPDATE OF organization_user_id, starts_at, status, updated_at ON `visits`
BEGIN
  INSERT INTO visit_metric_changes
  VALUES (old.organization_id, old.organization_user_id, old.starts_at, old.status, -1),
    (new.organization_id, new.organization_user_id, new.starts_at, new.status, 1);
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'visit.' || iif(new.status = old.status, 'updated', new.status),
    json_patch('{}', json_object('visit_id', new.id, 'call_id', iif(new.status <> old.status AND new.status = 'started', (
      SELECT call_id FROM participants
      WHERE visit_id = new.id AND call_id IS NOT NULL
      ORDER BY updated_at DESC LIMIT 1
    ), NULL))), new.updated_at);
END;

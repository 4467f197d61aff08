-- Written by `npm run db:triggers`. The reasons are in src/database/triggers.
--> statement-breakpoint
DROP TRIGGER `participants_updating`;
--> statement-breakpoint
DROP TRIGGER `participants_updated`;
--> statement-breakpoint
DROP VIEW `call_metric_shares`;
--> statement-breakpoint
CREATE VIEW `call_metric_shares` AS
SELECT
  call.id AS call_id,
  NULL AS participant_id,
  call.organization_id,
  scope.factor * call.organization_user_id AS organization_user_id,
  date(call.started_at / 1000.0, 'unixepoch') AS date,
  1 AS total_calls,
  call.failed AS failed_calls,
  call.ended_at IS NOT NULL AND NOT call.failed AS completed_calls,
  iif(call.ended_at IS NOT NULL AND NOT call.failed, call.ended_at - call.started_at, 0) AS duration_ms,
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
JOIN (SELECT 0 AS factor UNION ALL SELECT 1) scope
WHERE participant.role = 'recipient' AND participant.waiting_since IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `participants_updating` BEFORE UPDATE OF call_id, role, waiting_since ON `participants`
WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (old.call_id, old.id, -1);
END;
--> statement-breakpoint
CREATE TRIGGER `participants_updated` AFTER UPDATE OF call_id, role, waiting_since ON `participants`
WHEN new.call_id IS NOT NULL
BEGIN
  INSERT INTO call_metric_changes VALUES (new.call_id, new.id, 1);
END;
--> statement-breakpoint
-- Sums every share again. Rows that have dropped to zero are not made again.
DELETE FROM call_daily_metrics;

INSERT INTO call_daily_metrics (organization_id, organization_user_id, date, total_calls, failed_calls,
  completed_calls, duration_ms, waits, wait_ms)
SELECT organization_id, organization_user_id, date, sum(total_calls), sum(failed_calls),
  sum(completed_calls), sum(duration_ms), sum(waits), sum(wait_ms)
FROM call_metric_shares
GROUP BY organization_id, organization_user_id, date;

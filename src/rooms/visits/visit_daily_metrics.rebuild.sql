-- Counts every visit again. Rows whose counts have dropped to zero are not created again.
DELETE FROM visit_daily_metrics;

INSERT INTO visit_metric_changes
SELECT organization_id, organization_user_id, waiting_room_id, starts_at, NULL, status FROM visits;

-- Counts every visit again. Rows that have dropped to zero are not made again.
DELETE FROM visit_daily_metrics;

INSERT INTO visit_metric_changes
SELECT organization_id, organization_user_id, starts_at, status, 1 FROM visits;

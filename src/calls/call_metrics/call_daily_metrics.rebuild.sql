-- Sums every contribution again. Rows whose sums have dropped to zero are not created again.
DELETE FROM call_daily_metrics;

INSERT INTO call_daily_metrics (organization_id, organization_user_id, date, total_calls, failed_calls,
  ended_calls, duration_ms, waits, wait_ms)
SELECT organization_id, organization_user_id, date, sum(total_calls), sum(failed_calls),
  sum(ended_calls), sum(duration_ms), sum(waits), sum(wait_ms)
FROM call_metric_contributions
GROUP BY organization_id, organization_user_id, date;

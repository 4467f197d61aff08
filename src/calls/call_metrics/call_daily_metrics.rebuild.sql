-- Sums every contribution again. Rows whose sums have dropped to zero are not created again.
DELETE FROM call_daily_metrics;

INSERT INTO call_daily_metrics (organization_id, organization_user_id, waiting_room_id, date, total_calls, failed_calls,
  ended_calls, duration_ms, waits, wait_ms, quarters)
SELECT organization_id, member_id, room_id, date, sum(total_calls), sum(failed_calls), sum(ended_calls), sum(duration_ms),
  sum(waits), sum(wait_ms), json_group_object(quarter || '', json_array(total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms))
FROM (
  SELECT organization_id, member.factor * organization_user_id AS member_id, room.factor * waiting_room_id AS room_id, date, quarter,
    sum(total_calls) AS total_calls, sum(failed_calls) AS failed_calls, sum(ended_calls) AS ended_calls,
    sum(duration_ms) AS duration_ms, sum(waits) AS waits, sum(wait_ms) AS wait_ms
  FROM call_metric_contributions, (SELECT 0 AS factor UNION ALL SELECT 1) member, (SELECT 0 AS factor UNION ALL SELECT 1) room
  GROUP BY organization_id, member_id, room_id, date, quarter
)
GROUP BY organization_id, member_id, room_id, date;

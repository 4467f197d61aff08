-- A delivery is created in the same transaction as its event and the change that the event describes. So once the change is
-- written, the endpoints get the event, whatever fails afterwards. An endpoint subscribes to types or families: `call.*`
-- includes `call.ended`.
CREATE TRIGGER `webhook_deliveries_event` AFTER INSERT ON `events`
BEGIN
  INSERT INTO webhook_deliveries (organization_id, webhook_endpoint_id, event_id, next_attempt_at)
  SELECT organization_id, id, new.id, new.created_at
  FROM webhook_endpoints
  WHERE organization_id = new.organization_id AND is_active
    AND (event_types IS NULL OR EXISTS (
      SELECT 1 FROM json_each(event_types)
      WHERE value IN (new.type, substr(new.type, 1, instr(new.type, '.')) || '*')
    ));
END;

-- An endpoint is due when its first pending delivery is due. Triggers only make this time earlier; the end of a lane makes it later.
CREATE TRIGGER `webhook_deliveries_due` AFTER INSERT ON `webhook_deliveries` WHEN new.next_attempt_at IS NOT NULL
BEGIN
  UPDATE webhook_endpoints SET due_at = new.next_attempt_at
  WHERE id = new.webhook_endpoint_id AND (due_at IS NULL OR due_at > new.next_attempt_at);
END;

CREATE TRIGGER `webhook_deliveries_due_again` AFTER UPDATE OF next_attempt_at ON `webhook_deliveries`
WHEN new.next_attempt_at IS NOT NULL
BEGIN
  UPDATE webhook_endpoints SET due_at = new.next_attempt_at
  WHERE id = new.webhook_endpoint_id AND (due_at IS NULL OR due_at > new.next_attempt_at);
END;

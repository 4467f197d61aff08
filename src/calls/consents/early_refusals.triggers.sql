-- LiveKit may report that somebody refuses before anybody has reported the call. No recording of the call can be seen until a report
-- of the call names that person (egresses.triggers.sql). Refused consents in a room that never gets a call are deleted.
CREATE TRIGGER `early_refusals_claimed` AFTER INSERT ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = NULL
  WHERE organization_id = new.organization_id AND room_sid = new.key;
END;

CREATE TRIGGER `early_refusals_unclaimed` AFTER DELETE ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = created_at
  WHERE organization_id = old.organization_id AND room_sid = old.key;
END;

-- A refused consent stops the recording of the room, just as it stops the recording of a call (egresses.triggers.sql).
CREATE TRIGGER `early_refusals_stop_egresses` AFTER INSERT ON `early_refusals` WHEN new.came
BEGIN
  UPDATE egresses SET stop_due_at = new.created_at
  WHERE organization_id = new.organization_id AND room_sid = new.room_sid AND call_id IS NULL
    AND NOT is_stopped AND status IN ('egress_starting', 'egress_active');
END;

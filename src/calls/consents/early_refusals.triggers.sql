-- A participant may refuse before anybody has reported the call. No recording of the call can be seen until a report
-- of the call names that person (egresses.triggers.sql). Refused consents whose call is never reported are deleted.
CREATE TRIGGER `early_refusals_claimed` AFTER INSERT ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = NULL
  WHERE organization_id = new.organization_id AND call_key = new.key;
END;

CREATE TRIGGER `early_refusals_unclaimed` AFTER DELETE ON `calls`
BEGIN
  UPDATE early_refusals SET unclaimed_since = created_at
  WHERE organization_id = old.organization_id AND call_key = old.key;
END;

-- A refused consent stops the recordings that wait for the same call, just as it stops those of a call (egresses.triggers.sql).
CREATE TRIGGER `early_refusals_stop_egresses` AFTER INSERT ON `early_refusals` WHEN new.came
BEGIN
  UPDATE egresses SET stop_due_at = new.created_at
  WHERE organization_id = new.organization_id AND call_key = new.call_key AND call_id IS NULL
    AND NOT is_stopped AND status IN ('egress_starting', 'egress_active');
END;

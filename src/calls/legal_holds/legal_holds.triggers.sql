-- Only the reason and the end of a hold can change, and an organization's hold can become the platform's. After its end, a hold
-- never changes.
CREATE TRIGGER `legal_holds_unchanged` BEFORE UPDATE ON `legal_holds`
WHEN old.ended_at IS NOT NULL
  OR (new.id, new.organization_id, new.call_id, new.began_at)
    IS NOT (old.id, old.organization_id, old.call_id, old.began_at)
  OR (new.begun_by <> old.begun_by AND new.begun_by <> 'platform')
BEGIN
  SELECT raise(ABORT, 'of a legal hold only the reason, the end and who began it change');
END;

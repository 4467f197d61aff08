-- Decisions are never changed or deleted.
CREATE TRIGGER `consents_unchanged` BEFORE UPDATE ON `consents`
BEGIN
  SELECT raise(ABORT, 'consents are never changed');
END;

CREATE TRIGGER `consents_kept` BEFORE DELETE ON `consents`
BEGIN
  SELECT raise(ABORT, 'consents are never deleted');
END;

-- INSERT OR REPLACE deletes the old row without firing a DELETE trigger.
CREATE TRIGGER `consents_not_replaced` BEFORE INSERT ON `consents`
WHEN EXISTS (
  SELECT 1 FROM consents
  WHERE id = new.id OR (participant_id = new.participant_id AND reporter = new.reporter
    AND decision = new.decision AND decided_at = new.decided_at)
)
BEGIN
  SELECT raise(ABORT, 'consents are never changed');
END;

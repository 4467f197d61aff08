-- The effects of changes to a person's record.

-- Whatever code changes or erases a reference, its digest is kept, and the participants' copies of the digest follow.
CREATE TRIGGER `people_references_changed` AFTER UPDATE OF reference_digest ON `people`
WHEN old.reference_digest IS NOT new.reference_digest
BEGIN
  INSERT INTO former_references (organization_id, reference_digest, person_id)
  SELECT old.organization_id, old.reference_digest, old.id WHERE old.reference_digest IS NOT NULL
  ON CONFLICT DO NOTHING;
  UPDATE participants SET reference_digest = new.reference_digest WHERE person_id = new.id;
END;

-- A reference without its digest, or the reverse, would be found by no search, or by a wrong one.
CREATE TRIGGER `people_references_inserted` BEFORE INSERT ON `people`
WHEN (new.external_reference IS NULL) <> (new.reference_digest IS NULL)
BEGIN
  SELECT raise(ABORT, 'a reference is stored with its digest');
END;

CREATE TRIGGER `people_references_updated` BEFORE UPDATE OF external_reference, reference_digest ON `people`
WHEN (new.external_reference IS NULL) <> (new.reference_digest IS NULL)
  OR (old.external_reference IS NOT new.external_reference AND old.reference_digest IS new.reference_digest)
BEGIN
  SELECT raise(ABORT, 'a reference is stored with its digest');
END;

-- Each participation that shows a change gets an event. `corrections` makes it another version of the visit. Erasures have no event.
CREATE TRIGGER `events_person_updated` AFTER UPDATE OF display_name, role, user_id, external_reference ON `people`
WHEN old.display_name <> new.display_name OR old.role <> new.role OR old.user_id IS NOT new.user_id
  OR old.external_reference IS NOT new.external_reference
BEGIN
  INSERT INTO events_of_participants
  SELECT 'participant.updated', id, new.updated_at FROM participants
  WHERE person_id = new.id AND erased_at IS NULL AND new.erased_at IS NULL;
  UPDATE visits SET corrections = corrections + 1 WHERE id = new.visit_id;
END;

-- The reference of a visit may identify a person in it. A person who is only removed from the visit leaves it.
CREATE TRIGGER `people_erased_from_visit` AFTER UPDATE OF erased_at ON `people`
WHEN old.erased_at IS NULL AND new.erased_at IS NOT NULL AND (old.number IS NULL OR new.number IS NOT NULL)
BEGIN
  UPDATE visits SET external_reference = NULL, reference_erased_at = new.erased_at
  WHERE id = new.visit_id AND reference_erased_at IS NULL;
END;

-- Copies the call's start and the person's digest to every participant again.
UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = participants.call_id),
  reference_digest = (SELECT reference_digest FROM people WHERE id = participants.person_id);

-- Looks again which decision of every participant counts.
UPDATE participants SET recording_consent = (
  SELECT decision = 'granted' FROM consents
  WHERE participant_id = participants.id
  ORDER BY decided_at DESC, decision DESC
  LIMIT 1
);

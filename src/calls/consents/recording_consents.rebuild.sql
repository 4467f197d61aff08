-- Determines again which decision of each participant counts.
UPDATE participants SET recording_consent = (
  SELECT decision = 'granted' FROM consents
  WHERE participant_id = participants.id
  ORDER BY reporter = 'observer' AND decision = 'granted' AND said_at IS NULL, decided_at DESC, decision DESC
  LIMIT 1
);

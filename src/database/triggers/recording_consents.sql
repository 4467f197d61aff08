-- Of a participant's decisions the latest counts, and of two at the same time the refusal ('refused' comes after 'granted').
-- participants.recording_consent says which it is, so that a list of recordings need not look through the decisions.
CREATE TRIGGER `recording_consents_decided` AFTER INSERT ON `consents`
BEGIN
  UPDATE participants
  SET updated_at = new.created_at, recording_consent = (
    SELECT decision = 'granted' FROM consents
    WHERE participant_id = new.participant_id
    ORDER BY decided_at DESC, decision DESC
    LIMIT 1
  )
  WHERE id = new.participant_id;
END;

-- What counts: nothing but the rebuild's test reads it.
CREATE VIEW `recording_consents` AS
SELECT id AS participant_id, call_id, recording_consent FROM participants;

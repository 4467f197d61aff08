-- A participant's latest decision counts, and of two at the same time the refused consent ('refused' sorts after 'granted'). A
-- grant from an observer without a time counts only if there is no other decision, because an old token may repeat it.
-- participants.recording_consent holds the result, so that a list of recordings need not read the decisions.
CREATE TRIGGER `recording_consents_decided` AFTER INSERT ON `consents`
BEGIN
  UPDATE participants
  SET updated_at = new.created_at, recording_consent = (
    SELECT decision = 'granted' FROM consents
    WHERE participant_id = new.participant_id
    ORDER BY reporter = 'observer' AND decision = 'granted' AND said_at IS NULL, decided_at DESC, decision DESC
    LIMIT 1
  )
  WHERE id = new.participant_id;
END;

-- The results. Only the test of the rebuild reads this view.
CREATE VIEW `recording_consents` AS
SELECT id AS participant_id, call_id, recording_consent FROM participants;

-- The recordings that may be seen, wherever they are listed, counted, read, logged or announced: the call has ended, and all
-- of its participants, at least one, consented. A recording that came to its call by the name of a room (`began_at`) belongs
-- to a later call of that name if it began after the end of this one. So does a participant who came by the name
-- (`joined_by_name_at`) and joined after the recording had ended.
CREATE VIEW `visible_recordings` AS
SELECT egresses.id, egresses.call_id, egresses.status, egresses.is_announced
FROM egresses JOIN calls ON calls.id = egresses.call_id
WHERE calls.ended_at IS NOT NULL
  AND coalesce(egresses.began_at, 0) <= calls.ended_at
  AND EXISTS (SELECT 1 FROM participants WHERE participants.call_id = egresses.call_id)
  AND NOT EXISTS (
    SELECT 1 FROM participants
    WHERE participants.call_id = egresses.call_id
      AND NOT coalesce(participants.recording_consent, 0)
      AND coalesce(participants.joined_by_name_at <= egresses.ended_at, 1)
  );

-- Copies the end of every call, and whether it is under legal hold, again.
UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = egresses.call_id)
WHERE call_id IS NOT NULL;

UPDATE call_texts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = call_texts.call_id);

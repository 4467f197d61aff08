-- Copies the call's start to every participant again.
UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = participants.call_id);

-- Copies the start of every participant's call again.
UPDATE participants SET call_started_at = (SELECT started_at FROM calls WHERE id = participants.call_id);

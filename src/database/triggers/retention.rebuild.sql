-- Copies the end and the legal hold of every call again.
UPDATE egresses SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = egresses.call_id);

UPDATE transcripts SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = transcripts.call_id);

UPDATE soap_notes SET (call_ended_at, is_held) = (SELECT ended_at, is_held FROM retained_calls WHERE id = soap_notes.call_id);

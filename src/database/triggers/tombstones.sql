-- A transcript, SOAP note or reference that was deleted does not come back by a report, whatever code deleted it: so
-- triggers set the tombstones, and refuse what would come back. The time of a DELETE is that of the database, because it
-- cannot bring one along. And no text is deleted without its entry of the access log: one that was deleted does not come back,
-- so an entry of the call is always that of its only text.

CREATE TRIGGER `call_texts_deleted` AFTER DELETE ON `call_texts`
BEGIN
  SELECT raise(ABORT, 'the text of a call is deleted with an entry of the access log')
  WHERE NOT EXISTS (
    SELECT 1 FROM access_logs
    WHERE organization_id = old.organization_id AND call_id = old.call_id AND resource = old.kind AND event = 'delete'
  );
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, old.kind || '.deleted', json_object('organization_user_id', organization_user_id, 'call_id', id),
    cast(unixepoch('subsec') * 1000 AS INTEGER)
  FROM calls WHERE id = old.call_id;
  UPDATE calls SET transcript_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE id = old.call_id AND old.kind = 'transcript';
  UPDATE calls SET soap_note_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE id = old.call_id AND old.kind = 'soap_note';
END;

-- The reference may name who took part: so it goes with the names, and does not come where a call is first reported after
-- that. A legal hold keeps it; the cron erases it after that (calls.chores.ts).
CREATE TRIGGER `participants_erased_on_call` AFTER UPDATE OF call_id, erased_at ON `participants`
WHEN new.erased_at IS NOT NULL AND new.call_id IS NOT NULL
  AND (old.erased_at IS NULL OR old.call_id IS NOT new.call_id)
BEGIN
  UPDATE calls
  SET external_reference = NULL, livekit_said = NULL, reference_erased_at = new.updated_at,
    updated_at = max(updated_at, new.updated_at)
  WHERE id = new.call_id AND reference_erased_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM legal_holds WHERE call_id = new.call_id AND legal_holds.ended_at IS NULL);
END;

CREATE TRIGGER `call_references_not_restored` BEFORE UPDATE OF external_reference, livekit_said ON `calls`
WHEN new.reference_erased_at IS NOT NULL AND (new.external_reference IS NOT NULL OR new.livekit_said IS NOT NULL)
BEGIN
  SELECT raise(ABORT, 'the reference of the call was erased');
END;

CREATE TRIGGER `call_texts_not_restored` BEFORE INSERT ON `call_texts`
WHEN (SELECT iif(new.kind = 'transcript', transcript_deleted_at, soap_note_deleted_at) FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the text of the call was deleted');
END;

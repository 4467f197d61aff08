-- A report cannot bring back a deleted transcript or SOAP note, whatever code deleted it: triggers set the tombstones, and refuse a
-- text that has one. The time of a deletion is the database's, because a DELETE statement cannot set one. No text is deleted without
-- an entry in the access log. The trigger finds the entry by the call and the kind of text: a deleted text never comes back, so there is
-- only one text that the entry can be about.

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

CREATE TRIGGER `call_texts_not_restored` BEFORE INSERT ON `call_texts`
WHEN (SELECT iif(new.kind = 'transcript', transcript_deleted_at, soap_note_deleted_at) FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the text of the call was deleted');
END;

-- A text is announced once it is final and its call has ended.
CREATE TRIGGER `events_call_text_created` AFTER INSERT ON `call_texts` WHEN new.is_final
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || '.finalized',
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;

-- Only the final text of an ended call can be corrected.
CREATE TRIGGER `events_call_text_updated` AFTER UPDATE OF is_final, corrections ON `call_texts`
WHEN (new.is_final AND NOT old.is_final) OR new.corrections > old.corrections
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT organization_id, new.kind || iif(new.corrections > old.corrections, '.corrected', '.finalized'),
    json_object('organization_user_id', organization_user_id, 'call_id', id), new.updated_at
  FROM calls WHERE id = new.call_id AND ended_at IS NOT NULL;
END;

-- A transcript or SOAP note that was deleted does not come back by a report, whatever code deleted it: so triggers set the
-- tombstones, and refuse a row where there is one. The time is that of the database, because a DELETE cannot bring one
-- along.

CREATE TRIGGER `transcripts_deleted` AFTER DELETE ON `transcripts`
BEGIN
  UPDATE calls SET transcript_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER) WHERE id = old.call_id;
END;

CREATE TRIGGER `soap_notes_deleted` AFTER DELETE ON `soap_notes`
BEGIN
  UPDATE calls SET soap_note_deleted_at = cast(unixepoch('subsec') * 1000 AS INTEGER) WHERE id = old.call_id;
END;

CREATE TRIGGER `transcripts_not_restored` BEFORE INSERT ON `transcripts`
WHEN (SELECT transcript_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the transcript was deleted');
END;

CREATE TRIGGER `soap_notes_not_restored` BEFORE INSERT ON `soap_notes`
WHEN (SELECT soap_note_deleted_at FROM calls WHERE id = new.call_id) IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the SOAP note was deleted');
END;

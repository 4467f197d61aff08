-- The lines of a transcript are written once more, as a whole, when they change: the report that brings other lines inserts
-- them after this. So it does not matter where the lines before were, and a version of the service that knows only
-- transcript_lines leaves no older document beside its lines.
CREATE TRIGGER transcripts_lines_replaced AFTER UPDATE OF lines_digest ON transcripts
WHEN old.lines_digest <> new.lines_digest
BEGIN
  DELETE FROM transcript_parts WHERE call_id = new.call_id;
  DELETE FROM transcript_lines WHERE transcript_id = new.id;
END;

-- Parts go with their transcript by a foreign key. Lines that are not yet in parts go here.
CREATE TRIGGER transcripts_deleted BEFORE DELETE ON transcripts
BEGIN
  DELETE FROM transcript_lines WHERE transcript_id = old.id;
END;

-- The lines of a transcript are written once more, as a whole, when they change: the report that brings other lines inserts
-- them after this.
CREATE TRIGGER `transcripts_lines_replaced` AFTER UPDATE OF lines_digest ON `call_texts`
WHEN old.lines_digest <> new.lines_digest
BEGIN
  DELETE FROM transcript_parts WHERE transcript_id = new.id;
END;

-- Written by `npm run db:triggers`. The reasons are in src/database/triggers.
--> statement-breakpoint
CREATE TRIGGER transcripts_lines_replaced AFTER UPDATE OF lines_digest ON transcripts
WHEN old.lines_digest <> new.lines_digest
BEGIN
  DELETE FROM transcript_parts WHERE call_id = new.call_id;
  DELETE FROM transcript_lines WHERE transcript_id = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER transcripts_deleted BEFORE DELETE ON transcripts
BEGIN
  DELETE FROM transcript_lines WHERE transcript_id = old.id;
END;

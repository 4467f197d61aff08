import * as z from "zod";
import { MAX_NOTE_LENGTH, MAX_TRANSCRIPT_LINE_LENGTH, MAX_TRANSCRIPT_LINES } from "../../limits.ts";
import { id, line, longText } from "../../openapi/shapes.ts";

const seconds = () => z.number().min(0);

const transcriptLineSchema = z
  .object({
    id: id().describe(
      "The id of the line. It stays while the line does not change, whatever happens to other lines, and is never given to another line.",
    ),
    text: longText(MAX_TRANSCRIPT_LINE_LENGTH).min(1).describe("What was said. It can have line breaks."),
    start_time: seconds().describe("When the line begins, in seconds from the start of the call."),
    end_time: seconds().describe("When the line ends, in seconds from the start of the call."),
    display_name: line().describe("The name that the speaker has on the call now."),
  })
  .meta({ id: "TranscriptLine", description: "What one speaker said without a break." });

export const transcriptSchema = z
  .object({
    id: id().describe("The id of the transcript."),
    summary: longText(MAX_NOTE_LENGTH).describe(
      "A generated summary of the call; empty until there is one. It can come before or after the transcript is final.",
    ),
    is_final: z
      .boolean()
      .describe(
        "Whether processing is complete. A final transcript does not change, except that it can still get its summary.",
      ),
    transcript_lines: z
      .array(transcriptLineSchema)
      .max(MAX_TRANSCRIPT_LINES)
      .describe("What was said, ordered by `start_time`. Lines do not overlap. Empty if nobody spoke."),
  })
  .meta({ id: "Transcript", description: "What was said on a call." });

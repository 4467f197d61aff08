import * as z from "zod";
import { emptyOr, id, multilineText, name } from "../../http/wire.ts";
import * as limits from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";

const seconds = () => z.number().min(0);

const transcriptLineSchema = named("TranscriptLine", "A continuous utterance of one speaker.", {
  id: id().meta({
    description:
      "The id of the line. It stays the same as long as the line does not change, whatever happens to other lines, and is never reused.",
    example: 901,
  }),
  text: multilineText(limits.MAX_TRANSCRIPT_LINE_LENGTH).meta({
    description: "What was said. It can have line breaks.",
    example: "How do you feel today?",
  }),
  start_time: field(seconds(), "When the line begins, in seconds from the start of the call.", 0.5),
  end_time: field(seconds(), "When the line ends, in seconds from the start of the call.", 2),
  display_name: emptyOr(name()).meta({
    description: "The current name of the speaker on the call.",
    example: story.PAULA.display_name,
  }),
});

const answer: z.input<typeof transcriptLineSchema> = {
  id: 902,
  text: "Much better.",
  start_time: 2.4,
  end_time: 3.6,
  display_name: story.RITAS_PARTICIPANT.display_name,
};

export const transcriptSchema = named("Transcript", "The transcript of a call.", {
  id: id().meta({ description: "The id of the transcript.", example: 41 }),
  summary: emptyOr(multilineText(limits.MAX_NOTE_LENGTH)).meta({
    description:
      "A generated summary of the call; empty until there is one. It can arrive before or after the transcript becomes final.",
    example: "The recipient feels better and continues the treatment.",
  }),
  is_final: z.boolean().meta({
    description:
      "Whether processing is complete. A final transcript does not change, except that it can still get its summary and the organization can correct it.",
    example: true,
  }),
  transcript_lines: z
    .array(transcriptLineSchema)
    .max(limits.MAX_TRANSCRIPT_LINES)
    .meta({
      description: "The lines, ordered by `start_time`. Lines do not overlap. Empty if nobody spoke.",
      example: [exampleOf(transcriptLineSchema), answer],
    }),
});

/** One character can become a reference of five. Each line adds its times and its speaker's name. */
const MAX_WEBVTT_LENGTH =
  5 * (limits.MAX_TRANSCRIPT_SIZE + limits.MAX_TRANSCRIPT_LINES * (limits.MAX_NAME_LENGTH + 11));

export const webVttSchema = z
  .string()
  .max(MAX_WEBVTT_LENGTH)
  .regex(/^WEBVTT\n/)
  .describe("The lines as cues.");

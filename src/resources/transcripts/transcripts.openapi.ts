import type * as z from "zod";
import { MAX_NOTE_LENGTH, MAX_TRANSCRIPT_LINE_LENGTH } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { transcriptLineSchema, transcriptSchema } from "./transcripts.schemas.ts";

const transcript: z.input<typeof transcriptSchema> = {
  id: 41,
  summary: "The recipient feels better and goes on with the treatment.",
  is_final: true,
  transcript_lines: [
    { id: 901, text: "How do you feel today?", start_time: 0.5, end_time: 2, display_name: "Paula Provider" },
    { id: 902, text: "Much better.", start_time: 2.4, end_time: 3.6, display_name: "Rita Recipient" },
  ],
};

export const transcriptsReference: Reference = {
  tag: "Transcripts",
  description: "What was said on a call, with a summary.",
  schemas: {
    Transcript: {
      schema: transcriptSchema,
      description: "What was said on a call.",
      fields: {
        id: "Identifies the transcript.",
        summary: "A generated summary of the call; null until there is one, which may be before it is final.",
        is_final: "Whether processing is complete.",
        transcript_lines: "What was said, by start_time; lines do not overlap.",
      },
    },
    TranscriptLine: {
      schema: transcriptLineSchema,
      description: "What one speaker said, without a break.",
      fields: {
        id: "Identifies the line.",
        text: "What was said.",
        start_time: "Seconds from the beginning of the call.",
        end_time: "Seconds from the beginning of the call.",
        display_name: "The speaker, by the name on the call.",
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "getTranscript",
      summary: "Get the transcript of a call",
      status: 200,
      response: { schema: transcriptSchema, example: transcript },
      refusals: {
        404: "What the path names does not exist, or is not within reach, or the call has no transcript.",
      },
    },
  },
  platform: {
    "PUT /calls/:key/transcript": {
      operationId: "reportTranscript",
      summary: "Report the transcript of a call",
      description: `The first report takes \`is_final\` and \`lines\`. Lines come in any order and replace those before; they may touch, but not overlap. A final transcript has a summary, and changes no more. A line holds at most ${MAX_TRANSCRIPT_LINE_LENGTH} characters, the summary ${MAX_NOTE_LENGTH}.`,
      status: 200,
      requestExample: {
        transcript: {
          summary: transcript.summary,
          is_final: true,
          lines: [
            {
              participant_key: "participant-2b7e",
              text: "How do you feel today?",
              start_time: 0.5,
              end_time: 2,
            },
            { participant_key: "participant-8c1f", text: "Much better.", start_time: 2.4, end_time: 3.6 },
          ],
        },
      },
      response: { schema: transcriptSchema, example: transcript },
      refusals: {
        422: "The transcript is final already, or would be so without a summary, a first report lacks a field, lines overlap, or somebody speaks who is not on the call.",
      },
    },
  },
};

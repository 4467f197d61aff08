import type * as z from "zod";
import { MAX_NOTE_LENGTH, MAX_TRANSCRIPT_LINE_LENGTH, MAX_TRANSCRIPT_LINES } from "../../limits.ts";
import { busy, type Reference } from "../../openapi/operation.ts";
import { transcriptLineSchema, transcriptSchema } from "./transcripts.responses.ts";

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
  description:
    "What was said on calls, with summaries. If the organization does not keep them for good, they are deleted some days after the call.",
  schemas: {
    Transcript: {
      schema: transcriptSchema,
      description: "What was said on a call.",
      fields: {
        id: "The id of the transcript.",
        summary:
          "A generated summary of the call; empty until it exists. It can come before or after the transcript is final.",
        is_final:
          "Whether processing is complete. A final transcript does not change, but it can get its summary later.",
        transcript_lines: "What was said, ordered by `start_time`. Lines do not overlap.",
      },
    },
    TranscriptLine: {
      schema: transcriptLineSchema,
      description: "What one speaker said without a break.",
      fields: {
        id: "The id of the line. It stays while the line does not change, whatever happens to other lines, and is never given to another line.",
        text: "What was said.",
        start_time: "When the line begins, in seconds from the start of the call.",
        end_time: "When the line ends, in seconds from the start of the call.",
        display_name: "The name that the speaker has on the call now.",
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "getTranscript",
      summary: "Get the transcript of a call",
      description: "A transcript can be read when the call has ended.",
      status: 200,
      response: { schema: transcriptSchema, example: transcript },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or it has no transcript.",
      },
    },
  },
  platform: {
    "PUT /calls/:key/transcript": {
      operationId: "reportTranscript",
      summary: "Report the transcript of a call",
      description: `The first report needs \`is_final\` and \`lines\`. Lines can come in any order and replace all lines that were reported before; a line that stays the same keeps its id. One line may begin when another ends, but lines must not overlap. A final transcript cannot be changed; repeating it is no error. Only its summary can come later, once; after that, a report without a summary changes nothing. There can be up to ${MAX_TRANSCRIPT_LINES} lines. A line can have up to ${MAX_TRANSCRIPT_LINE_LENGTH} characters, the summary up to ${MAX_NOTE_LENGTH}.`,
      status: 200,
      request: {
        fields: {},
        example: {
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
      },
      response: { schema: transcriptSchema, example: transcript },
      refusals: {
        422: "The report would change a final transcript, a first report lacks a field, lines overlap, or a speaker is not on the call.",
        503: busy,
      },
    },
    "DELETE /calls/:key/transcript": {
      operationId: "deleteTranscript",
      summary: "Delete the transcript of a call",
      description: "If there is none, this is no error. A later report makes a new one.",
      status: 204,
      refusals: { 404: "The call does not exist.", 422: "The call is under legal hold." },
    },
  },
};

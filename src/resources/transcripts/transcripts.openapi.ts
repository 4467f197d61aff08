import type * as z from "zod";
import { MAX_CALL_PARTICIPANTS } from "../../limits.ts";
import { busyError, type Reference } from "../../openapi/operation.ts";
import { PAULA, PAULAS_PARTICIPANT, RITAS_PARTICIPANT } from "../../openapi/story.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { transcriptSchema } from "./transcripts.responses.ts";

type Transcript = z.input<typeof transcriptSchema>;

const question = { text: "How do you feel today?", start_time: 0.5, end_time: 2 };
const answer = { text: "Much better.", start_time: 2.4, end_time: 3.6 };

const complete: Transcript = {
  id: 41,
  summary: "The recipient feels better and goes on with the treatment.",
  is_final: true,
  transcript_lines: [
    { id: 901, ...question, display_name: PAULA.display_name },
    { id: 902, ...answer, display_name: RITAS_PARTICIPANT.display_name },
  ],
};

const withoutSummary: Transcript = { ...complete, summary: "" };

const draft: Transcript = {
  ...withoutSummary,
  is_final: false,
  transcript_lines: complete.transcript_lines.slice(0, 1),
};

const lines = [
  { participant_key: PAULAS_PARTICIPANT.key, ...question },
  { participant_key: RITAS_PARTICIPANT.key, ...answer },
];

export const transcriptsReference: Reference = {
  tag: "Transcripts",
  description:
    "What was said on calls, with summaries. A call has at most one transcript, and may have none. If the organization does not keep transcripts for good, they are deleted some days after the call.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "getTranscript",
      summary: "Get the transcript of a call",
      description:
        "A transcript can be read when the call has ended, final or not. The event `transcript.finalized` says that the final one can be read.",
      status: 200,
      response: {
        schema: transcriptSchema,
        examples: {
          "A final transcript": complete,
          "The summary is not there yet": withoutSummary,
          "Not final yet": draft,
        },
      },
      refusals: {
        404: "Something in the path does not exist, or the client has no access to it. Or the call has not ended, or has no transcript: it was too short, for example, or the transcript is not there yet or was deleted.",
      },
      errors: { 404: ["Transcript not found"] },
    },
  },
  platform: {
    "PUT /calls/:key/transcript": {
      operationId: "reportTranscript",
      summary: "Report the transcript of a call",
      description:
        "Reports a transcript, at any time, as often as it grows. The first report needs `is_final` and `lines`. A final transcript cannot be changed, but repeating it is no error. Only its summary can come later, once; after that, a report without a summary changes nothing.",
      status: 200,
      parameters: { key: callKey },
      request: {
        fields: {
          transcript: "What is new about the transcript.",
          "transcript.summary":
            "The summary of the call. It is kept as it is, with its line breaks. Null, or left out of the first report: there is none yet. Null clears the summary of a transcript that is not final.",
          "transcript.is_final": "Whether the lines are complete. True cannot be taken back.",
          "transcript.lines": `All lines, in any order: they replace those of the report before. An empty list means that nobody spoke. Lines must not overlap, but one can begin when another ends. At most ${MAX_CALL_PARTICIPANTS} participants can speak.`,
          "transcript.lines.participant_key":
            "The key of the participant who speaks. The participant must be on the call.",
          "transcript.lines.text": "What was said. It is kept as it is, with its spaces and line breaks.",
          "transcript.lines.start_time":
            "When the line begins, in seconds from the start of the call. It can have a fraction.",
          "transcript.lines.end_time":
            "When the line ends, in seconds from the start of the call; not before `start_time`.",
        },
        examples: {
          "The whole transcript": { transcript: { summary: complete.summary, is_final: true, lines } },
          "What is known so far": { transcript: { is_final: false, lines: lines.slice(0, 1) } },
          "The summary of a final transcript": { transcript: { summary: complete.summary } },
        },
      },
      response: {
        schema: transcriptSchema,
        examples: { "A final transcript": complete, "Not final yet": draft },
      },
      errors: {
        404: ["Call not found"],
        422: [
          "transcript: is_final and lines are required in the first report",
          "transcript.lines.0.end_time: must not be before start_time",
          "transcript.lines: must not overlap",
          `transcript.lines: must be spoken by at most ${MAX_CALL_PARTICIPANTS} participants`,
          "transcript.lines: a participant_key is not on the call: report the participant with the call first",
          "The transcript is final and cannot be changed",
        ],
        503: [busyError],
      },
    },
    "DELETE /calls/:key/transcript": {
      operationId: "deleteTranscript",
      summary: "Delete the transcript of a call",
      description: "If there is none, this is no error. A later report makes a new one, with new ids.",
      status: 204,
      parameters: { key: callKey },
      errors: {
        404: ["Call not found"],
        422: ["The call is under legal hold: end the hold first"],
      },
    },
  },
};

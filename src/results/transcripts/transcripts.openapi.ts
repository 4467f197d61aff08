import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import { invalidBody } from "../../http/errors.ts";
import { MAX_CALL_PARTICIPANTS, MAX_TRANSCRIPT_SIZE } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { ETAG, type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import * as story from "../../openapi/story.ts";
import { grouped } from "../../units.ts";
import { deletionOf } from "../call_texts/call_texts.openapi.ts";
import { egressNotFound } from "../egresses/egresses.refusals.ts";
import * as refusals from "./transcripts.refusals.ts";
import { transcriptSchema, webVttSchema } from "./transcripts.responses.ts";
import { toWebVtt } from "./transcripts.webvtt.ts";

const complete = exampleOf(transcriptSchema);

const webVtt = [
  ...toWebVtt({
    lines: complete.transcript_lines.map((line) => ({ ...line, speaker_id: line.id })),
    names: new Map(complete.transcript_lines.map(({ id, display_name }) => [id, display_name])),
  }),
].join("");

const lines = complete.transcript_lines.map(({ text, start_time, end_time }, n) => ({
  participant_key: [story.PAULAS_PARTICIPANT.key, story.RITAS_PARTICIPANT.key][n],
  text,
  start_time,
  end_time,
}));

export const transcriptsReference: Reference = {
  tag: "Transcripts",
  description:
    "The text of what was said on calls, with summaries. A call has at most one transcript. Unless the organization keeps transcripts forever, they are deleted a number of days after the call.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "getTranscript",
      summary: "Get the transcript of a call",
      description:
        "A transcript can be read once the call has ended, whether or not it is final. The `transcript.finalized` event tells you that the final transcript can be read. If `Accept` prefers `text/vtt` to JSON, the response is WebVTT for media players: each line is a cue with the voice of its speaker (`<v Paula Provider>`), without the summary. Errors are always JSON. With `egress_id`, the times of the lines count from the start of this recording in both formats.",
      parameters: {
        egress_id: {
          description:
            "The `id` of a recording of this call. The times then count from its `started_at` instead of the start of the call. Lines outside the recording are left out, and lines partly outside are cut.",
          example: story.EGRESS.id,
        },
      },
      headers: { ...VARY_ACCEPT, ...ETAG },
      alternatives: { "text/vtt": { schema: webVttSchema, example: webVtt } },
      response: { schema: transcriptSchema },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or the call has no transcript, for example because the call was too short, or the transcript is not available yet or was deleted. The same applies to a recording that the client cannot read or that belongs to another call.",
      },
      errors: [refusals.transcriptNotFound(), egressNotFound(), refusals.recordingStartUnknown()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/transcript": deletionOf(
      "deleteOwnTranscript",
      "transcript",
    ),
  },
  platform: {
    "PUT /organizations/:organization_id/calls/:key/transcript": {
      operationId: "reportTranscript",
      summary: "Report the transcript of a call",
      description:
        "Reports a transcript, at any time and as often as it grows. The first report needs `is_final` and `lines`. A final transcript cannot be changed. Repeating it is not an error unless the organization has corrected the summary; corrected lines stay corrected. Only the summary can be added later, once; after that, a report without a summary changes nothing. A transcript that was deleted, on request or because its retention period ended, does not come back.",
      request: {
        fields: {
          ...REPORTED_AT,
          transcript: "The new parts of the transcript.",
          "transcript.lines.participant_key":
            "The key of the participant who speaks. The participant must be on the call.",
          "transcript.lines.text": "What was said. Spaces and line breaks are kept.",
          "transcript.lines.start_time":
            "When the line begins, in seconds from the start of the call. It can have a fraction.",
          "transcript.lines.end_time":
            "When the line ends, in seconds from the start of the call; not before `start_time`.",
          "transcript.lines": `All lines, in any order. They replace the lines of the previous report. An empty list means that nobody spoke. Lines must not overlap, but a line can begin when another ends. At most ${grouped(MAX_CALL_PARTICIPANTS)} participants can speak. Lines and summary together can take up to ${MAX_TRANSCRIPT_SIZE / 1024 / 1024} MiB as JSON, including earlier reports and corrections that still apply.`,
          "transcript.summary":
            "The summary of the call. Line breaks are kept. Null, or omitted from the first report, if there is none yet. Null clears the summary of a transcript that is not final.",
        },
        examples: {
          "The whole transcript": { transcript: { summary: complete.summary, is_final: true, lines } },
          "A partial transcript": {
            transcript: { is_final: false, lines: lines.slice(0, 1) },
            reported_at: "2026-01-31T09:40:00Z",
          },
        },
      },
      response: { schema: transcriptSchema },
      errors: [
        callNotFound(),
        refusals.transcriptRefusals.wasDeleted(),
        refusals.transcriptRefusals.isIncomplete(),
        invalidBody(`transcript.lines.0.end_time: ${refusals.LINE_ENDS_TOO_EARLY}`),
        invalidBody(`transcript.lines.1: ${refusals.LINES_OVERLAP}`),
        invalidBody(`transcript.lines: ${refusals.TOO_MANY_SPEAKERS}`),
        refusals.speakerNotOnCall(0),
        refusals.transcriptTooLong(),
        refusals.transcriptRefusals.isFinal(),
      ],
    },
    "DELETE /organizations/:organization_id/calls/:key/transcript": {
      ...deletionOf("deleteTranscript", "transcript"),
    },
  },
};

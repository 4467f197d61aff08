import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_CALL_PARTICIPANTS, MAX_TRANSCRIPT_LINES, MAX_TRANSCRIPT_SIZE } from "../../limits.ts";
import { grouped, KIB } from "../../units.ts";
import { refusalsOfReports } from "../call_texts/call_texts.merge.ts";

export const transcriptNotFound = () => notFound("Transcript");

export const transcriptRefusals = refusalsOfReports("transcript", "transcript: is_final and lines");

/** @param place the line's index in the request */
export const speakerNotOnCall = (place: number) =>
  unprocessable(
    "speaker_unknown",
    `transcript.lines.${place}.participant_key: is not on the call: report the participant with the call first`,
  );

export const recordingStartUnknown = () =>
  unprocessable(
    "recording_start_unknown",
    "egress_id: it is unknown when the recording began: read the transcript without egress_id",
  );

export const transcriptTooLong = () =>
  unprocessable(
    "transcript_too_long",
    `transcript: summary and lines must take at most ${MAX_TRANSCRIPT_SIZE / KIB / KIB} MiB as JSON, including earlier reports and corrections that still apply`,
  );

export const TOO_MANY_LINES = `must hold at most ${grouped(MAX_TRANSCRIPT_LINES)} lines`;
export const LINE_ENDS_TOO_EARLY = "must not be before start_time";
export const LINES_OVERLAP = "begins before the previous line ends";
export const TOO_MANY_SPEAKERS = `must be spoken by at most ${MAX_CALL_PARTICIPANTS} participants`;

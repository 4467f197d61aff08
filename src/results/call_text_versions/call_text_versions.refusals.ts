import type { CallTextKind } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";
import { MAX_TEXT_VERSIONS, MAX_TEXT_VERSIONS_SIZE } from "../../limits.ts";
import { KIB } from "../../units.ts";

const NAMES: Record<CallTextKind, string> = { transcript: "transcript", soap_note: "SOAP note" };

export const NOTE_STAYS = { is_final: "a final text stays final" };

export const TRANSCRIPT_STAYS = {
  ...NOTE_STAYS,
  transcript_lines: "send the corrected lines as lines",
  lines: "only the text of a line can be corrected",
};

export const textNotFinal = (kind: CallTextKind) =>
  unprocessable(
    "text_not_final",
    `The ${NAMES[kind]} cannot be corrected yet: it must be final, and its call must have ended`,
  );

export const correctedTooOften = (kind: CallTextKind) =>
  unprocessable(
    "too_many_corrections",
    `The ${NAMES[kind]} was corrected too often: a text can be corrected at most ${MAX_TEXT_VERSIONS} times, replacing at most ${MAX_TEXT_VERSIONS_SIZE / KIB / KIB} MiB in all`,
  );

/** @param place the line's index in the request */
export const lineUnknown = (place: number) =>
  unprocessable(
    "line_unknown",
    `transcript.lines.${place}.id: the transcript has no such line: read it again, and use the ids of its lines`,
  );

export const LINE_REPEATED = "names an earlier line again";

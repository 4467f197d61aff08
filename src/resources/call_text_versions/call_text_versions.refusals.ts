import type { CallTextKind } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";
import { MAX_TEXT_VERSIONS, MAX_TEXT_VERSIONS_SIZE } from "../../limits.ts";
import { KIB } from "../../units.ts";

const NAMES: Record<CallTextKind, string> = { transcript: "transcript", soap_note: "SOAP note" };

export const textNotFinal = (kind: CallTextKind) =>
  unprocessable(`The ${NAMES[kind]} cannot be corrected yet: it must be final, and its call must have ended`);

export const correctedTooOften = (kind: CallTextKind) =>
  unprocessable(
    `The ${NAMES[kind]} was corrected too often: at most ${MAX_TEXT_VERSIONS} times, which may replace ${MAX_TEXT_VERSIONS_SIZE / KIB / KIB} MiB in all`,
  );

export const lineUnknown = (id: number) =>
  unprocessable(`transcript.lines: the transcript has no line ${id}`);

/** A fault of the lines. */
export const LINE_REPEATED = "must name each line once";

import { HOUR, MINUTE, SECOND } from "../../units.ts";
import type { StoredLine } from "./transcripts.document.ts";
import type { TranscriptWithLines } from "./transcripts.schemas.ts";

/*
 * WebVTT (https://www.w3.org/TR/webvtt1/), as browsers take it in a <track>. It has what was said, and nothing else.
 */

/** A cue for each line, in their order. */
export function* toWebVtt({ lines, names }: Pick<TranscriptWithLines, "lines" | "names">): Generator<string> {
  yield "WEBVTT\n";
  for (const line of lines) yield `\n${toCue(line, names.get(line.speaker_id))}`;
}

/** @param name of the speaker; undefined if the speaker's record is gone */
export function toCue(
  { text, start_time, end_time }: Omit<StoredLine, "id" | "speaker_id">,
  name: string | undefined,
): string {
  const start = millisecondsOf(start_time);
  // A cue must end after its start.
  const end = Math.max(millisecondsOf(end_time), start + 1);
  const voice = name === undefined ? "" : `<v ${escaped(name).replace(/-$/, HYPHEN)}>`;
  return `${cueTime(start)} --> ${cueTime(end)}\n${voice}${withoutEmptyLines(escaped(text))}\n`;
}

/** Seconds can be any number. Beyond this, numbers have no milliseconds, and the hours of a cue no number in browsers. */
const MAX_HOURS = 2 ** 31 - 2;

const millisecondsOf = (seconds: number) => Math.min(Math.round(seconds * SECOND), MAX_HOURS * HOUR);

const cueTime = (time: number) =>
  [Math.floor(time / HOUR), Math.floor(time / MINUTE) % 60, Math.floor(time / SECOND) % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":")
    .concat(".", String(time % SECOND).padStart(3, "0"));

const REFERENCES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** So that no text is a tag, a character reference or the arrow of the next cue. */
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => REFERENCES[character] as string);

/** For a name that ends in two hyphens: with the end of its tag they would be an arrow. */
const HYPHEN = "&#45;";

/** An empty line would end the cue, so a line break that begins or ends one is written as a character reference. */
const withoutEmptyLines = (text: string) => text.replace(/\r\n?/g, "\n").replace(/^\n|\n(?=\n|$)/g, "&#10;");

import { HOUR, MINUTE, SECOND } from "../../units.ts";
import type { StoredLine } from "./transcripts.document.ts";
import type { TranscriptWithLines } from "./transcripts.schemas.ts";

/** WebVTT (https://www.w3.org/TR/webvtt1/) for a browser's <track>. */
export function* toWebVtt({ lines, names }: Pick<TranscriptWithLines, "lines" | "names">): Generator<string> {
  yield "WEBVTT\n";
  // Each name is in many cues, and can be much longer than what is said there.
  const voices = new Map(Array.from(names, ([id, name]) => [id, toVoice(name)]));
  // Without a voice, the speaker's record is gone.
  for (const line of lines) yield `\n${toCue(line, voices.get(line.speaker_id) ?? "")}`;
}

const toVoice = (name: string) => `<v ${escaped(withoutLineBreaks(name)).replace(/-$/, HYPHEN)}>`;

function toCue({ text, start_time, end_time }: Omit<StoredLine, "id" | "speaker_id">, voice: string): string {
  const start = millisecondsOf(start_time);
  // A cue must end after its start.
  const end = Math.max(millisecondsOf(end_time), start + 1);
  return `${cueTime(start)} --> ${cueTime(end)}\n${voice}${withoutEmptyLines(escaped(text))}\n`;
}

/** The largest number of hours that browsers can parse. Beyond it, times in seconds would also lose their milliseconds. */
const MAX_HOURS = 2 ** 31 - 2;

const millisecondsOf = (seconds: number) => Math.min(Math.round(seconds * SECOND), MAX_HOURS * HOUR);

const cueTime = (time: number) =>
  [Math.floor(time / HOUR), Math.floor(time / MINUTE) % 60, Math.floor(time / SECOND) % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":")
    .concat(".", String(time % SECOND).padStart(3, "0"));

const REFERENCES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes text, so that it cannot form a tag, a character reference or the arrow of the next cue. */
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => REFERENCES[character] as string);

/** Names may contain these two characters, at which some players break the line. */
const withoutLineBreaks = (name: string) => name.replace(/[\u2028\u2029]/g, " ");

/** Replaces the last hyphen of a name: two hyphens and the end of the tag would form an arrow. */
const HYPHEN = "&#45;";

/** An empty line would end the cue, so line breaks that form one are written as character references. */
const withoutEmptyLines = (text: string) => text.replace(/\r\n?/g, "\n").replace(/^\n|\n(?=\n|$)/g, "&#10;");

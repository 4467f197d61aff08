import { bytesOfHex, hexOf } from "../../bytes/hex.ts";
import { SECOND } from "../../units.ts";

/*
 * A transcript's lines are stored as one compressed document, column by column, because columns compress better than
 * lines. Times compress best as differences in milliseconds.
 *
 * No async function here may hold a long text, because it would keep the text in memory until it ends.
 */

/** A stored line. `speaker_id` is a participant's id. */
export interface StoredLine {
  id: number;
  speaker_id: number;
  text: string;
  start_time: number;
  end_time: number;
}

/** A null id marks a new line. The database gives the new lines of a report consecutive ids. */
export type Line = Omit<StoredLine, "id"> & { id: number | null };

interface Document {
  speakers: number[];
  /** For each line, the index of its speaker. */
  who: number[];
  /** Runs of consecutive ids, as pairs: the first id (0 for new lines) and the length. */
  ids: number[];
  /** For each line, its start and end. A number is milliseconds since the previous time; a string is the exact seconds. */
  times: (number | string)[];
  texts: string[];
}

/** Compresses the lines into a document, as hex. D1 accepts 2 MB, which no transcript within the limits exceeds. */
export const pack = (lines: Line[]): Promise<string> =>
  hexFrom(through(new CompressionStream("gzip"), JSON.stringify(toDocument(lines))));

const hexFrom = async (document: Response) => hexOf(new Uint8Array(await document.arrayBuffer()));

/** The lines of a transcript. Each is created only when it is read, because the lines take more memory than the document. */
export interface Lines<Each> extends Iterable<Each> {
  count: number;
  /** The length of all texts, in characters. */
  length: number;
}

/** @param document hex */
export const unpack = (document: string): Promise<Lines<Line>> => unpackBytes(bytesOfHex(document));

async function unpackBytes(bytes: Uint8Array): Promise<Lines<Line>> {
  const document: Document = await through(new DecompressionStream("gzip"), bytes).json();
  return {
    count: document.texts.length,
    length: lengthOfTexts(document.texts),
    [Symbol.iterator]: () => fromDocument(document),
  };
}

export const asLines = <Each extends { text: string }>(lines: Each[]): Lines<Each> => ({
  count: lines.length,
  length: lengthOfTexts(lines.map(({ text }) => text)),
  [Symbol.iterator]: () => lines.values(),
});

const lengthOfTexts = (texts: string[]) => texts.reduce((length, text) => length + text.length, 0);

/**
 * The lines of a transcript.
 *
 * @param stored holds the document as hex, or empty. This function clears it, because it is long
 */
export function storedLines(
  { first_line_id }: { first_line_id: number | null },
  stored: { document: string } | undefined,
): Promise<Lines<StoredLine>> | Lines<StoredLine> {
  if (!stored?.document) return asLines<StoredLine>([]);
  const lines = unpack(stored.document);
  stored.document = "";
  return lines.then((unpacked) => ({
    ...unpacked,
    [Symbol.iterator]: () => numberLines(unpacked, first_line_id),
  }));
}

/**
 * The lines with times that count from the start of the recording, cut at its start and end.
 *
 * @param delay of the recording after the start of the call, in milliseconds, like its duration
 */
export const onRecordingClock = (lines: Lines<StoredLine>, delay: number, duration: number | null) => ({
  ...lines,
  [Symbol.iterator]: () => cutLines(lines, delay, duration ?? Number.POSITIVE_INFINITY),
});

function* cutLines(lines: Iterable<StoredLine>, delay: number, last: number): Generator<StoredLine> {
  for (const line of lines) {
    const start = Math.round(line.start_time * SECOND) - delay;
    const end = Math.round(line.end_time * SECOND) - delay;
    if (start >= last || (start < 0 && end <= 0)) continue;
    yield { ...line, start_time: Math.max(start, 0) / SECOND, end_time: Math.min(end, last) / SECOND };
  }
}

/** Keeps the ids of unchanged lines. Lines must be in the order of their times. */
export function keepIds(lines: Omit<Line, "id">[], before: Iterable<Line>): Line[] {
  const known = Map.groupBy(before, identity);
  return lines.map((line) => ({ ...line, id: known.get(identity(line))?.shift()?.id ?? null }));
}

/** Numbers the new lines, beginning with `first_line_id`. */
export function* numberLines(lines: Iterable<Line>, first_line_id: number | null): Generator<StoredLine> {
  let next = first_line_id;
  for (const line of lines) {
    const id = line.id ?? next;
    if (id === null) throw new Error("A line of a transcript has no id");
    if (line.id === null) next = id + 1;
    yield { ...line, id };
  }
}

const identity = ({ speaker_id, text, start_time, end_time }: Omit<Line, "id">) =>
  `${speaker_id} ${start_time} ${end_time} ${text}`;

function toDocument(lines: Line[]): Document {
  const speakers = [...new Set(lines.map((line) => line.speaker_id))];
  const positions = new Map(speakers.map((speaker, position) => [speaker, position]));
  return {
    speakers,
    who: lines.map((line) => positions.get(line.speaker_id) as number),
    ids: toRuns(lines.map((line) => line.id)),
    times: toSteps(lines.flatMap((line) => [line.start_time, line.end_time])),
    texts: lines.map((line) => line.text),
  };
}

function* fromDocument({ speakers, who, ids, times, texts }: Document): Generator<Line> {
  const id = fromRuns(ids);
  const time = fromSteps(times);
  for (const [n, text] of texts.entries())
    yield {
      id: id.next().value as number | null,
      speaker_id: speakers[who[n] as number] as number,
      text,
      start_time: time.next().value as number,
      end_time: time.next().value as number,
    };
}

function toRuns(ids: (number | null)[]): number[] {
  const runs: number[] = [];
  let [next, count] = [Number.NaN as number | null, 0];
  for (const id of ids) {
    if (id !== next) {
      runs.push(id ?? 0, 0);
      count = 0;
    }
    runs[runs.length - 1] = ++count;
    next = id === null ? null : id + 1;
  }
  return runs;
}

function* fromRuns(runs: number[]): Generator<number | null> {
  for (let n = 0; n < runs.length; n += 2) {
    const [first = 0, count = 0] = runs.slice(n, n + 2);
    for (let k = 0; k < count; k++) yield first === 0 ? null : first + k;
  }
}

/** Times that are whole milliseconds become differences; other times stay as text. */
function toSteps(times: number[]): (number | string)[] {
  let before = 0;
  return times.map((seconds) => {
    const milliseconds = Math.round(seconds * 1000);
    if (!Number.isSafeInteger(milliseconds) || milliseconds / 1000 !== seconds) return String(seconds);
    const step = milliseconds - before;
    before = milliseconds;
    return step;
  });
}

function* fromSteps(steps: (number | string)[]): Generator<number> {
  let milliseconds = 0;
  for (const step of steps) {
    if (typeof step === "number") milliseconds += step;
    yield typeof step === "string" ? Number(step) : milliseconds / 1000;
  }
}

function through(stream: CompressionStream | DecompressionStream, content: string | Uint8Array): Response {
  return new Response(new Response(content).body?.pipeThrough(stream));
}

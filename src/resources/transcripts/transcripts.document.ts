import { bytesOfHex, hexOf } from "../../bytes/hex.ts";

/*
 * The lines of a transcript as one compressed document. Columns compress better than lines do, and the times best as the
 * milliseconds from one to the next.
 *
 * No async function here has a long text: it would keep it until it ends.
 */

/** A line as it is stored. `speaker_id` is the participant's. */
export interface StoredLine {
  id: number;
  speaker_id: number;
  text: string;
  start_time: number;
  end_time: number;
}

/** A line whose id is null is new: it gets the next of the ids that the database gives to its report. */
export type Line = Omit<StoredLine, "id"> & { id: number | null };

interface Document {
  /** The participants who speak, each once. */
  speakers: number[];
  /** For each line, the position of its speaker. */
  who: number[];
  /** Runs of ids that follow each other: the first id, or 0 for new lines; how many; and so on. */
  ids: number[];
  /** For each line its start and its end. A number is milliseconds since the time before; a text is seconds, exactly. */
  times: (number | string)[];
  texts: string[];
}

/** The document of the lines, as hex. D1 takes 2 MB, which no transcript within its limits exceeds. */
export const pack = (lines: Line[]): Promise<string> =>
  hexFrom(through(new CompressionStream("gzip"), JSON.stringify(toDocument(lines))));

const hexFrom = async (document: Response) => hexOf(new Uint8Array(await document.arrayBuffer()));

/**
 * The lines, each made when it is asked for: they take more memory than the document.
 *
 * @param document as hex
 */
export const unpack = (document: string): Promise<Iterable<Line>> => unpackBytes(bytesOfHex(document));

const unpackBytes = async (bytes: Uint8Array) =>
  fromDocument(await through(new DecompressionStream("gzip"), bytes).json());

/**
 * The lines of a transcript.
 *
 * @param stored its document is hex, empty where there is none. It is long, so it is taken away
 */
export function storedLines(
  { first_line_id }: { first_line_id: number | null },
  stored: { document: string } | undefined,
): Promise<Iterable<StoredLine>> | StoredLine[] {
  if (!stored?.document) return [];
  const lines = unpack(stored.document);
  stored.document = "";
  return lines.then((unpacked) => numberLines(unpacked, first_line_id));
}

/** The lines with the ids that they had before, where they are the same. Lines come in the order of their times. */
export function keepIds(lines: Omit<Line, "id">[], before: Iterable<Line>): Line[] {
  const known = Map.groupBy(before, identity);
  return lines.map((line) => ({ ...line, id: known.get(identity(line))?.shift()?.id ?? null }));
}

/** Gives new lines their ids, from the first one on. */
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

/** Seconds that are whole milliseconds become steps, and others stay as they are, in text. */
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

import { bytesOfHex, hexOf } from "../../bytes/hex.ts";

/*
 * A transcript's lines are stored as one compressed document, column by column, because columns compress better than lines.
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
  ids: (number | null)[];
  speakers: number[];
  starts: number[];
  ends: number[];
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

/** @param stored holds the document as hex, or empty. This function clears it, because it is long */
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

const toDocument = (lines: Line[]): Document => ({
  ids: lines.map(({ id }) => id),
  speakers: lines.map(({ speaker_id }) => speaker_id),
  starts: lines.map(({ start_time }) => start_time),
  ends: lines.map(({ end_time }) => end_time),
  texts: lines.map(({ text }) => text),
});

function* fromDocument({ ids, speakers, starts, ends, texts }: Document): Generator<Line> {
  for (const [n, text] of texts.entries())
    yield {
      id: ids[n] as number | null,
      speaker_id: speakers[n] as number,
      text,
      start_time: starts[n] as number,
      end_time: ends[n] as number,
    };
}

function through(stream: CompressionStream | DecompressionStream, content: string | Uint8Array): Response {
  return new Response(new Response(content).body?.pipeThrough(stream));
}

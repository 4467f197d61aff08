/** The largest texts that the limits allow. */
import { randomBytes } from "node:crypto";
import {
  MAX_NAME_LENGTH,
  MAX_NOTE_LENGTH,
  MAX_TEXT_VERSIONS,
  MAX_TEXT_VERSIONS_SIZE,
  MAX_TRANSCRIPT_LINES,
  MAX_TRANSCRIPT_SIZE,
} from "../../src/limits.ts";

/** Leaves room for the summary, and for what corrections add. */
const TEXT_SIZE = MAX_TRANSCRIPT_SIZE - MAX_NOTE_LENGTH - 2000;

/** Makes a text with this many bytes in UTF-8, different for each `n`. */
type Fill = (size: number, n: number) => string;

/** One character outside Latin-1 makes a text, and every text that contains it, twice as long in memory. */
const phrases: Fill = (size, n) =>
  `${n % 10}山${`good morning ${n}, how are you? `.repeat(size / 28 + 1)}`.slice(0, size - 3);

/** Random characters of three bytes each, which do not compress. */
const randomCharacters: Fill = (size, n) => {
  const codes = randomBytes(Math.floor((size - 1) / 3) * 2);
  const character = (_: unknown, at: number) =>
    String.fromCharCode(0x4e00 + (codes.readUInt16LE(2 * at) % 0x5000));
  return `${n % 10}${Array.from({ length: codes.length / 2 }, character).join("")}`;
};

/** The text of a correction differs in its first character. */
const otherThan = (text: string, n: number) => `${n % 10}${text.slice(1)}`;

/** @param sizeOfLine the size of one line as JSON, in bytes */
export function linesOf(count: number, sizeOfLine: number, fill: Fill = phrases) {
  const line = (n: number) => ({ participant_key: "10", text: "", start_time: n, end_time: n });
  const room = sizeOfLine - JSON.stringify(line(count)).length;
  return Array.from({ length: count }, (_, n) => ({ ...line(n), text: fill(room, n) }));
}

const longest = (count: number, fill?: Fill) => ({
  lines: linesOf(count, Math.floor(TEXT_SIZE / count), fill),
  fill,
});

/** The shapes of the longest transcripts, each made on demand. */
export const LARGEST_TRANSCRIPTS = {
  "many lines": () => longest(MAX_TRANSCRIPT_LINES),
  "long lines": () => longest(100),
  "many random lines": () => longest(MAX_TRANSCRIPT_LINES, randomCharacters),
  "long random lines": () => longest(100, randomCharacters),
};

export type Shape = keyof typeof LARGEST_TRANSCRIPTS;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a story knows what it asked for
  body: any;
}

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

export interface Reporting {
  base: string;
  platform: Ask;
  addClient: () => Promise<{ external: Ask }>;
}

interface Owner {
  id: number;
  waiting_room_slug: string;
}

/** @throws Error if the request is refused */
async function succeeded(asked: Promise<Answer>) {
  const { status, body } = await asked;
  if (status !== 200) throw new Error(`It answered ${status} ${JSON.stringify(body)}`);
  return body;
}

let calls = 0;

/** A call on which someone with the longest name speaks. The participant's key has two characters. */
export async function aCallToTranscribe(
  { base, platform }: Pick<Reporting, "base" | "platform">,
  provider: Owner,
) {
  const key = crypto.randomUUID();
  const participant_key = String(10 + (calls++ % 90));
  const call = {
    waiting_room_slug: provider.waiting_room_slug,
    organization_user_id: provider.id,
    started_at: "2026-01-31T09:30:00Z",
    ended_at: "2026-01-31T19:30:00Z",
    participants: [{ key: participant_key, display_name: "🩺".repeat(MAX_NAME_LENGTH), role: "recipient" }],
  };
  const { id } = await succeeded(platform("PUT", `${base}/calls/${key}`, { call }));
  return {
    path: `/organization_users/${provider.id}/calls/${id}/transcript`,
    report: (lines: object[]) =>
      platform("PUT", `${base}/calls/${key}/transcript`, {
        transcript: { is_final: true, lines: lines.map((line) => ({ ...line, participant_key })) },
      }),
  };
}

/**
 * Makes one of the longest transcripts, corrected as often and as much as allowed.
 *
 * @returns its path
 */
export async function aLargestTranscript(clinic: Reporting, provider: Owner, shape: Shape): Promise<string> {
  const { path, report } = await aCallToTranscribe(clinic, provider);
  const { lines, fill = phrases } = LARGEST_TRANSCRIPTS[shape]();
  await succeeded(report(lines));
  // The long answers to all corrections would exceed the limit of one client.
  const clients = [await clinic.addClient(), await clinic.addClient()] as const;
  const { transcript_lines } = await succeeded(clients[0].external("GET", path));
  const share = MAX_TEXT_VERSIONS_SIZE / MAX_TEXT_VERSIONS;
  const count = Math.floor((0.9 * share * lines.length) / TEXT_SIZE);
  for (let n = 1; n <= MAX_TEXT_VERSIONS; n++) {
    const corrected = transcript_lines
      .slice(0, count)
      .map(({ id, text }: { id: number; text: string }) => ({ id, text: otherThan(text, n) }));
    const correction = { lines: corrected, reason: "Misheard" };
    const summary = n === MAX_TEXT_VERSIONS && { summary: fill(MAX_NOTE_LENGTH, n) };
    const client = clients[n % 2 === 0 ? 0 : 1];
    await succeeded(client.external("PUT", path, { transcript: { ...correction, ...summary } }));
  }
  return path;
}

import fc from "fast-check";
import type { TranscriptWithLines } from "../../../src/results/transcripts/transcripts.schemas.ts";

/** Text that has a meaning in WebVTT or HTML, or that ends a line. */
const PIECES = [
  ..."<>&;#\"'/\\ \t\n\r\f\v\u00a0\u0085\u200e\u2028\u2029\ufeff\u0001",
  ...["-->", "--", "\r\n", "\n\n", "\n\n\n", " \n ", "WEBVTT", "NOTE", "STYLE", "REGION"],
  ...["&amp;", "&lt", "&#10;", "&#x3c;", "&nbsp;", "&notit;", "<v Somebody>", "</v>", "<b>", "<c.red>", "<"],
  ...["<00:00:01.000>", "00:00:00.000 --> 00:00:09.000", "\n\n00:01.000 --> 00:02.000\n", "align:start"],
  ...["a", "Good morning.", "é", "汉", "\u202eabc", "😀", "e\u0301"],
];

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "grapheme", maxLength: 3 })), {
    maxLength: 9,
  })
  .map((pieces) => pieces.join("").replaceAll("\0", ""))
  .filter((text) => text.trim() !== "");

/** A name has no control characters, and no spaces at its ends. */
const name = hostile.map((text) => text.replace(/\p{Cc}/gu, "").trim()).filter((text) => text !== "");

const SPEAKERS = 4;

/** A transcript of hostile names and texts, in which a speaker's record may be missing. */
export const hostileTranscript: fc.Arbitrary<Pick<TranscriptWithLines, "lines" | "names">> = fc
  .record({
    names: fc.array(name, { minLength: SPEAKERS, maxLength: SPEAKERS }),
    said: fc.array(
      fc.record({
        text: hostile,
        speaker_id: fc.integer({ min: 0, max: SPEAKERS }),
        lasts: fc.integer({ min: 1, max: 5000 }),
      }),
      { maxLength: 30 },
    ),
  })
  .map(({ names, said }) => {
    let at = 0;
    const lines = said.map(({ lasts, ...line }, n) => {
      const start_time = at / 1000;
      at += lasts;
      return { ...line, id: n + 1, start_time, end_time: at / 1000 };
    });
    return { lines, names: new Map(names.map((each, n) => [n, each])) };
  });

export interface Cue {
  startTime: number;
  endTime: number;
  voice: string | null;
  text: string;
}

/** The cues that a player must show. Line feeds are the only line breaks, and names have none. */
export const cuesOf = ({ lines, names }: Pick<TranscriptWithLines, "lines" | "names">): Cue[] =>
  [...lines].map(({ start_time, end_time, text, speaker_id }) => ({
    startTime: start_time,
    endTime: end_time,
    voice: names.get(speaker_id)?.replace(/[\u2028\u2029]/g, " ") ?? null,
    text: text.replace(/\r\n?/g, "\n"),
  }));

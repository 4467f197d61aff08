import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWebVtt } from "../../../src/results/transcripts/transcripts.webvtt.ts";
import { type Cue, cuesOf, hostileTranscript } from "../support/hostile_speech.ts";

const TIME = /^(\d\d+):([0-5]\d):([0-5]\d\.\d{3})$/;

function secondsOf(time = "") {
  const [, hours, minutes, seconds] = TIME.exec(time) ?? [];
  // Exact to the millisecond, unlike in a browser.
  return (Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Math.round(Number(seconds) * 1000)) / 1000;
}

const CHARACTERS: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&#10;": "\n",
  "&#45;": "-",
};

const decoded = (text: string) =>
  text.replace(/&[^;]*;?/g, (reference) => CHARACTERS[reference] ?? `unknown ${reference}`);

/** Reads the cues of a file, and accepts only the parts of WebVTT that the service writes. */
function read(file: string): Cue[] {
  const [signature, ...blocks] = file.replace(/\n$/, "").split("\n\n");
  expect(signature).toBe("WEBVTT");
  return blocks.map((block) => {
    const [timing = "", ...payload] = block.split("\n");
    expect(payload.join("\n")).not.toContain("-->");
    const [, voice, text = ""] = /^(?:<v ([^<>\n]+)>)?([^<>]+)$/.exec(payload.join("\n")) ?? [];
    const [startTime = 0, endTime = 0] = timing.split(" --> ").map(secondsOf);
    return { startTime, endTime, voice: voice === undefined ? null : decoded(voice), text: decoded(text) };
  });
}

const textOf = (transcript: Parameters<typeof toWebVtt>[0]) => [...toWebVtt(transcript)].join("");

const fileOf = (text: string, name?: string, [start_time, end_time] = [1, 2]) =>
  textOf({
    lines: [{ id: 1, speaker_id: 7, text, start_time: start_time ?? 0, end_time: end_time ?? 0 }],
    names: new Map(name === undefined ? [] : [[7, name]]),
  });

describe("toWebVtt", () => {
  it("writes a cue for each line, with its speaker's voice", () => {
    const lines = [
      { id: 901, speaker_id: 1, text: "How do you feel today?", start_time: 0.5, end_time: 2 },
      { id: 902, speaker_id: 2, text: "Much better.\nThank you.", start_time: 2.4, end_time: 3661.0625 },
      { id: 903, speaker_id: 3, text: "Good bye.", start_time: 360_000, end_time: 360_001 },
    ];
    const names = new Map([
      [1, "Paula Provider"],
      [2, "Rita Recipient"],
    ]);
    expect(textOf({ lines, names })).toBe(`WEBVTT

00:00:00.500 --> 00:00:02.000
<v Paula Provider>How do you feel today?

00:00:02.400 --> 01:01:01.063
<v Rita Recipient>Much better.
Thank you.

100:00:00.000 --> 100:00:01.000
Good bye.
`);
  });

  it("writes only the header if nobody spoke", () => {
    expect(textOf({ lines: [], names: new Map() })).toBe("WEBVTT\n");
  });

  it.each([
    ["5 < 6 & 7 > 6", "5 &lt; 6 &amp; 7 &gt; 6"],
    ["&lt;", "&amp;lt;"],
    ["a --> b", "a --&gt; b"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["\n\na\n\n\nb\n", "&#10;\na&#10;&#10;\nb&#10;"],
    ["a\n \nb", "a\n \nb"],
  ])("writes the text %j as %j", (text, written) => {
    for (const name of ["Rita", undefined]) expect(fileOf(text, name)).toContain(`${written}\n`);
    expect(fileOf(text)).toBe(`WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${written}\n`);
  });

  it.each([
    ["Rita <R&D>", "<v Rita &lt;R&amp;D&gt;>"],
    ["Rita --", "<v Rita -&#45;>"],
    ["--", "<v -&#45;>"],
    ["Rita\u2028R.\u2029Recipient", "<v Rita R. Recipient>"],
  ])("writes the name %j as %j", (name, written) => {
    expect(fileOf("Hello.", name)).toContain(`\n${written}Hello.\n`);
  });

  it.each([
    [0, 0, "00:00:00.000 --> 00:00:00.001"],
    [1.0004, 1.0004, "00:00:01.000 --> 00:00:01.001"],
    [59.9996, 59.9997, "00:01:00.000 --> 00:01:00.001"],
    [1 / 3, 2 / 3, "00:00:00.333 --> 00:00:00.667"],
    [1e21, Number.MAX_VALUE, "2147483646:00:00.000 --> 2147483646:00:00.001"],
  ])("writes a line from %d to %d as %s", (start, end, timing) => {
    expect(fileOf("Hello.", undefined, [start, end])).toContain(`\n${timing}\n`);
  });

  it("writes a file that can be read back, whatever its names and texts", () => {
    fc.assert(
      fc.property(hostileTranscript, (transcript) => {
        expect(read(textOf(transcript))).toEqual(cuesOf(transcript));
      }),
      { numRuns: 300 },
    );
  });
});

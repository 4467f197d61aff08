import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOfHex, hexOf } from "../../../src/bytes/hex.ts";
import { MAX_TRANSCRIPT_LINES, MAX_TRANSCRIPT_SIZE } from "../../../src/limits.ts";
import {
  asLines,
  keepIds,
  type Line,
  numberLines,
  onRecordingClock,
  pack,
  unpack,
} from "../../../src/results/transcripts/transcripts.document.ts";

const seconds = fc.oneof(
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 2 ** 53 }).map((milliseconds) => milliseconds / 1000),
  fc.integer({ min: 0, max: 36_000 }),
  fc.constantFrom(0, 0.1 + 0.2, 1 / 3, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, 1e16, 1e21),
);

const line: fc.Arbitrary<Line> = fc.record({
  id: fc.option(fc.integer({ min: 1, max: 20 })),
  speaker_id: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
  text: fc.string({ unit: "binary" }),
  start_time: seconds,
  end_time: seconds,
});

describe("pack and unpack", () => {
  it("return exactly the lines that were stored", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        expect([...(await unpack(await pack(lines)))]).toEqual(lines);
      }),
      { numRuns: 1000 },
    );
  });

  it("keep texts that are not valid Unicode", async () => {
    const lines = ["\ud800", "a\udfffb", "\0", "\ufeff", "\u2028"].map((text, n) => ({
      ...{ id: n + 1, speaker_id: 7, text },
      ...{ start_time: n, end_time: n },
    }));
    expect([...(await unpack(await pack(lines)))]).toEqual(lines);
  });

  const random = (below: number) => Math.floor(Math.random() * below);

  /** Text that hardly compresses. Most of its characters take one byte in UTF-8, but not all. */
  const noise = (length: number) =>
    Array.from({ length }, () => {
      const kind = Math.random();
      const [first, count] = kind < 0.81 ? [0x23, 57] : kind < 0.955 ? [0x80, 0x780] : [0x3400, 0x6000];
      return String.fromCodePoint(first + random(count));
    }).join("");

  const sizeOf = (lines: object[]) => Buffer.byteLength(JSON.stringify(lines));

  it.each([
    ["few long lines", 100, () => noise(8200)],
    ["many lines of random times", MAX_TRANSCRIPT_LINES, () => noise(24)],
  ])("fit any lines into a value of D1 as hex, however random: %s", async (_, count, text) => {
    const lines = Array.from({ length: count }, (_, n) => ({
      ...{ id: random(2 ** 50), speaker_id: 7, text: text() },
      ...{ start_time: n + Math.random(), end_time: n + Math.random() },
    }));
    const reported = lines.map(({ id: _, speaker_id: __, ...line }) => line);
    expect(sizeOf(reported)).toBeGreaterThan(0.9 * MAX_TRANSCRIPT_SIZE);
    expect(sizeOf(reported)).toBeLessThan(1.1 * MAX_TRANSCRIPT_SIZE);
    expect((await pack(lines)).length).toBeLessThan(1_950_000);
  });
});

describe("keepIds and numberLines", () => {
  const says = (text: string, time: number, id: number | null = null): Line => ({
    ...{ id, speaker_id: 7, text, start_time: time, end_time: time },
  });

  it("keep the ids of equal lines, as many as there were", () => {
    const before = [says("one", 0, 11), says("yes", 1, 12), says("yes", 1, 13), says("two", 2, 14)];
    const yes = says("yes", 1);
    const after = keepIds([yes, yes, yes, says("two", 2), says("one", 3)], before);
    expect(after.map(({ id }) => id)).toEqual([12, 13, null, 14, null]);
  });

  it("number only the new lines, in their order", () => {
    const lines = [says("a", 0), says("b", 1, 4), says("c", 2), says("d", 3, 5), says("e", 4)];
    expect([...numberLines(lines, 90)].map(({ id }) => id)).toEqual([90, 4, 91, 5, 92]);
    expect(() => [...numberLines(lines, null)]).toThrow("no id");
  });
});

it("hexOf and bytesOfHex preserve bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(hexOf(bytes)).toBe(Buffer.from(bytes).toString("hex"));
      expect(bytesOfHex(hexOf(bytes))).toEqual(bytes);
      expect(bytesOfHex(hexOf(bytes).toUpperCase())).toEqual(bytes);
    }),
  );
});

describe("onRecordingClock", () => {
  /** A recording of 10 seconds that begins 60.5 seconds after the call. */
  const clock = { delay: 60_500, duration: 10_000 };

  it.each([
    ["inside", [62, 64.25], clock, [1.5, 3.75]],
    ["before", [58, 60.4], clock, undefined],
    ["up to its start", [58, 60.5], clock, undefined],
    ["over its start", [58, 61], clock, [0, 0.5]],
    ["over its end", [70, 72], clock, [9.5, 10]],
    ["over both", [0, 100], clock, [0, 10]],
    ["from its end", [70.5, 72], clock, undefined],
    ["without length at its start", [60.5, 60.5], clock, [0, 0]],
    ["without a known end", [3600, 3601], { ...clock, duration: null }, [3539.5, 3540.5]],
    ["of a recording that began before the call", [0, 1], { ...clock, delay: -250 }, [0.25, 1.25]],
    ["between milliseconds", [60.6004, 60.7006], clock, [0.1, 0.201]],
  ])("moves and cuts a line %s", (_, [start_time = 0, end_time = 0], recording, expected) => {
    const lines = asLines([{ id: 1, speaker_id: 2, text: "Yes.", start_time, end_time }]);
    const moved = [...onRecordingClock(lines, recording.delay, recording.duration)];
    expect(moved.map((line) => [line.start_time, line.end_time])).toEqual(expected ? [expected] : []);
  });
});

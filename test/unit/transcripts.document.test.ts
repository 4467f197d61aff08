import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOfHex, hexOf } from "../../src/bytes/hex.ts";
import {
  keepIds,
  type Line,
  numberLines,
  pack,
  unpack,
} from "../../src/resources/transcripts/transcripts.document.ts";
import { TRANSCRIPT_PART } from "../../src/tuning.ts";

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

/** What `pack` stores. */
const stored = async (lines: Line[]) => (await pack(lines)).join("");

describe("The document of a transcript", () => {
  it("gives back exactly the lines that were stored, whatever they are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        expect([...(await unpack(await stored(lines)))]).toEqual(lines);
      }),
      { numRuns: 1000 },
    );
  });

  it("keeps texts that are no valid Unicode", async () => {
    const lines = ["\ud800", "a\udfffb", "\0", "\ufeff", "\u2028"].map((text, n) => ({
      ...{ id: n + 1, speaker_id: 7, text },
      ...{ start_time: n, end_time: n },
    }));
    expect([...(await unpack(await stored(lines)))]).toEqual(lines);
  });

  it("is in parts that are short enough for a row of D1", async () => {
    const noise = (n: number) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000));
    const lines = Array.from({ length: 300 }, (_, n) => ({
      ...{ id: null, speaker_id: 7, start_time: n, end_time: n },
      text: Array.from({ length: 4000 }, (_, k) => noise(n * n * 31 + k * k * 17 + k)).join(""),
    }));
    const parts = await pack(lines);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(2 * TRANSCRIPT_PART);
    expect(2 * TRANSCRIPT_PART).toBeLessThan(2_000_000);
    expect([...(await unpack(parts.join("")))]).toEqual(lines);
  });
});

describe("New lines", () => {
  const says = (text: string, time: number, id: number | null = null): Line => ({
    ...{ id, speaker_id: 7, text, start_time: time, end_time: time },
  });

  it("keep the ids of lines that are the same, as often as they were there", () => {
    const before = [says("one", 0, 11), says("yes", 1, 12), says("yes", 1, 13), says("two", 2, 14)];
    const after = keepIds(
      [says("yes", 1), says("yes", 1), says("yes", 1), says("two", 2), says("one", 3)],
      before,
    );
    expect(after.map(({ id }) => id)).toEqual([12, 13, null, 14, null]);
  });

  it("that are really new get ids in their order, from the first new one on", () => {
    const lines = [says("a", 0), says("b", 1, 4), says("c", 2), says("d", 3, 5), says("e", 4)];
    expect([...numberLines(lines, 90)].map(({ id }) => id)).toEqual([90, 4, 91, 5, 92]);
    expect(() => [...numberLines(lines, null)]).toThrow("no id");
  });
});

it("Bytes written as hex are the same bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(hexOf(bytes)).toBe(Buffer.from(bytes).toString("hex"));
      expect(bytesOfHex(hexOf(bytes))).toEqual(bytes);
      expect(bytesOfHex(hexOf(bytes).toUpperCase())).toEqual(bytes);
    }),
  );
});

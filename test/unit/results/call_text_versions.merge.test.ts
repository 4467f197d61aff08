import fc from "fast-check";
import { expect, it } from "vitest";
import {
  correctLines,
  linesOfVersions,
} from "../../../src/results/call_text_versions/call_text_versions.merge.ts";

const IDS = [11, 12, 13, 14, 15];

const LINES = IDS.map((id, n) => ({ id, speaker_id: 7, text: `${n}`, start_time: n, end_time: n + 1 }));

const correction = fc.uniqueArray(
  fc.record({ id: fc.constantFrom(...IDS), text: fc.string({ maxLength: 2 }) }),
  {
    selector: ({ id }) => id,
  },
);

it("linesOfVersions restores the lines from before each correction", () => {
  fc.assert(
    fc.property(fc.array(correction, { maxLength: 8 }), (corrections) => {
      const states = [LINES];
      const versions = corrections.map((corrected) => {
        const { lines, replaced } = correctLines(states.at(-1) ?? [], corrected);
        states.push(lines);
        return { lines: replaced.length > 0 ? JSON.stringify(replaced) : null };
      });
      const newestFirst = versions.map((version, n) => ({ ...version, n })).reverse();
      for (const { version, lines } of linesOfVersions(states.at(-1) ?? [], newestFirst))
        expect([...lines]).toEqual(states[version.n]);
    }),
  );
});

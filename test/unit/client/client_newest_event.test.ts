import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newestEvent } from "../../../src/client/follow.ts";

/** A list of events with these ids, and the number of requests for it. */
function aList(ids: number[]) {
  const asked = { count: 0 };
  const list: Parameters<typeof newestEvent>[0] = async ({ after = 0, per_page }) => {
    asked.count++;
    const page = ids.filter((id) => id > after).slice(0, per_page);
    const events = page.map((id) => ({ id }) as never);
    return { events, next_after: page.at(-1) ?? after };
  };
  return { list, asked };
}

describe("newestEvent", () => {
  it("finds the newest of any events in few requests", async () => {
    const gaps = fc.array(fc.oneof(fc.constant(1), fc.nat({ max: 100 }), fc.nat({ max: 1_000_000_000 })), {
      maxLength: 2000,
      size: "max",
    });
    await fc.assert(
      fc.asyncProperty(gaps, async (lengths) => {
        let last = 0;
        const ids = lengths.map((length) => {
          last += length + 1;
          return last;
        });
        const { list, asked } = aList(ids);
        expect(await newestEvent(list)).toBe(last);
        expect(asked.count).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(last + 2)));
      }),
    );
  });

  it.each([0, 1, 99])("needs one request for %i events", async (count) => {
    const { list, asked } = aList(Array.from({ length: count }, (_, n) => 1000 + n));
    expect(await newestEvent(list)).toBe(count === 0 ? 0 : 999 + count);
    expect(asked.count).toBe(1);
  });

  it("finds the last of a million events in few requests", async () => {
    const { list, asked } = aList(Array.from({ length: 1_000_000 }, (_, n) => 1 + n));
    expect(await newestEvent(list)).toBe(1_000_000);
    expect(asked.count).toBeLessThan(30);
  });
});

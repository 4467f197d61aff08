import { describe, expect, it } from "vitest";
import { remember } from "../../../src/memory.ts";

describe("remember", () => {
  it("forgets the entry remembered longest ago", () => {
    const memory = new Map<string, number>();
    for (const [n, key] of ["a", "b", "a", "c", "d"].entries()) remember(memory, key, n, 3);
    expect([...memory]).toEqual([
      ["a", 2],
      ["c", 3],
      ["d", 4],
    ]);
  });

  it("never exceeds its bound", () => {
    const memory = new Map<number, true>();
    for (let n = 0; n < 1000; n++) {
      remember(memory, n, true, 10);
      expect(memory.size).toBeLessThanOrEqual(10);
    }
    expect([...memory.keys()]).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
  });
});

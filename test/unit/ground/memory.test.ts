import { describe, expect, it } from "vitest";
import { remember } from "../../../src/memory.ts";

describe("remember", () => {
  it("forgets the entry remembered longest ago", () => {
    const memory = new Map<string, number>();
    for (const [n, key] of ["a", "b", "a", "c", "d"].entries()) remember(memory, key, n, 3);
    expect(Object.fromEntries(memory)).toEqual({ a: 2, c: 3, d: 4 });
  });
});

import { expect, it } from "vitest";
import { requireEveryOperation } from "../bench/operations.ts";

it("The benchmark has an example of every operation", () => {
  expect(requireEveryOperation).not.toThrow();
});

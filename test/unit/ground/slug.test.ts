import fc from "fast-check";
import { expect, it } from "vitest";
import { kebabCase } from "../../../src/database/slug.ts";

it("kebabCase puts single hyphens between letters and digits only, whatever the name", async () => {
  const anyName = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[-_a '\\/.—7é]*$/));
  await fc.assert(
    fc.asyncProperty(anyName, async (name) => {
      expect(await kebabCase(name, "room")).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }),
    { numRuns: 2000 },
  );
});

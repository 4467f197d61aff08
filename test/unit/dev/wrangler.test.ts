import { describe, expect, it } from "vitest";
import { errorWithoutData } from "../../../src/dev/wrangler.ts";

const BANNER = "⛅️ wrangler\n───────────\nResource location: local\n\n▲ [WARNING] Processing wrangler.toml\n";

describe("errorWithoutData", () => {
  it("returns the error without the output before it", () => {
    const error = "✘ [ERROR] no such table: users: SQLITE_ERROR";
    expect(errorWithoutData(`${BANNER}\u001b[31m${error}\u001b[0m\n`)).toBe(error);
  });

  it("returns the error of a command that prints JSON", () => {
    const error = '"error": {\n    "text": "too many SQL variables: SQLITE_ERROR"\n  }\n}';
    expect(errorWithoutData(`${BANNER}{\n  ${error}\n`)).toBe(error);
  });

  it.each([
    ["a statement", "INSERT INTO soap_notes VALUES ('chest pain');"],
    ["a table of rows", "│ chest pain │"],
    ["values", "('chest pain'),"],
    ["results", '  "results": [{"subjective": "chest pain"}]'],
  ])("stops before the first line of data: %s", (_, data) => {
    expect(errorWithoutData(`${BANNER}✘ [ERROR] It failed\n${data}\nchest pain\n`)).toBe(
      "✘ [ERROR] It failed",
    );
    expect(errorWithoutData(`${data}\nchest pain\n`)).toBe("");
  });

  it("returns at most 300 characters", () => {
    expect(errorWithoutData(`✘ [ERROR] ${"x".repeat(1000)}`)).toHaveLength(300);
  });
});

import { describe, expect, it } from "vitest";
import { errorWithoutData } from "../../src/dev/wrangler.ts";

const BANNER = "⛅️ wrangler\n───────────\nResource location: local\n\n▲ [WARNING] Processing wrangler.toml\n";

describe("What a failed backup or restore shows of wrangler's output", () => {
  it("is the error, without what came before", () => {
    const error = "✘ [ERROR] no such table: users: SQLITE_ERROR";
    expect(errorWithoutData(`${BANNER}\u001b[31m${error}\u001b[0m\n`)).toBe(error);
  });

  it("is the error of a command that prints JSON", () => {
    const error = '"error": {\n    "text": "too many SQL variables: SQLITE_ERROR"\n  }\n}';
    expect(errorWithoutData(`${BANNER}{\n  ${error}\n`)).toBe(error);
  });

  it.each([
    ["a statement", "INSERT INTO soap_notes VALUES ('chest pain');"],
    ["a table of rows", "│ chest pain │"],
    ["values", "('chest pain'),"],
    ["results", '  "results": [{"subjective": "chest pain"}]'],
  ])("ends before the first line of data: %s", (_, data) => {
    expect(errorWithoutData(`${BANNER}✘ [ERROR] It failed\n${data}\nchest pain\n`)).toBe(
      "✘ [ERROR] It failed",
    );
    expect(errorWithoutData(`${data}\nchest pain\n`)).toBe("");
  });

  it("is at most 300 characters long", () => {
    expect(errorWithoutData(`✘ [ERROR] ${"x".repeat(1000)}`)).toHaveLength(300);
  });
});

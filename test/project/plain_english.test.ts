import { describe, expect, it } from "vitest";
import { faultsIn } from "../../src/dev/plain_english.ts";

describe("npm run check lists a sentence", () => {
  it.each([
    ["a.ts", "/** Of its last seal. */", "a.ts:1: Of its last seal."],
    ["a.ts", "f();\n// Waits.\n// Those come first.\nf();", "a.ts:2: Those come first."],
    ["a.ts", "/**\n * Adds two.\n *\n * @returns what is to be shown\n */", "a.ts:1: what is to be shown"],
    ["a.sql", "SELECT 1;\n-- Whoever leaves.\nSELECT 2;", "a.sql:2: Whoever leaves."],
    ["a.toml", "# The same for mails.", "a.toml:1: The same for mails."],
    ["a.md", "# Title\n\n- First. What it does, it does.", "a.md:3: What it does, it does."],
  ])("that reads as if it were translated: %s, %j", (file, source, fault) => {
    expect(faultsIn(file, source)).toEqual([fault]);
  });

  it.each([
    ["a.ts", "/** The last seal. */\nconst text = 'Of its last seal'; // Offers.\nconst b = `Those`;"],
    ["a.ts", '/** Reads `Of` and "is to be". */'],
    ["a.md", "## What does it cost?\n\n```sh\nWhat\n```\n\nIt costs nothing."],
  ])("unless it is code, quoted, or a question: %s, %j", (file, source) => {
    expect(faultsIn(file, source)).toEqual([]);
  });
});

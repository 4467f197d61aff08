import { describe, expect, it } from "vitest";
import { sizeReport } from "../../src/dev/sizes_report.ts";

const slugs = new Map([
  [1, "riverside"],
  [2, "hillside"],
]);

const sizes = [
  { organization: 1, table: "calls", rows: 100, bytes: 5_000 },
  { organization: null, table: "places", rows: 7, bytes: 300 },
  { organization: 2, table: "calls", rows: 100, bytes: 6_000 },
  // A second portion of a table.
  { organization: 1, table: "calls", rows: 20, bytes: 500 },
  { organization: 1, table: "invites", rows: 3, bytes: 900_000 },
];

describe("The report of sizes", () => {
  it("has a line for each organization and table, the largest first", () => {
    expect(sizeReport(sizes, slugs, 1e6).split("\n").slice(0, 8)).toEqual([
      "organization  slug               table       rows  bytes (estimated)",
      "1             riverside          all tables   123             905500",
      "1             riverside          invites        3             900000",
      "1             riverside          calls        120               5500",
      "2             hillside           all tables   100               6000",
      "2             hillside           calls        100               6000",
      "-             (no organization)  all tables     7                300",
      "-             (no organization)  places         7                300",
    ]);
  });

  it("says that the bytes are estimated, and compares the real size with the 10 GB that D1 allows", () => {
    const report = sizeReport(sizes, slugs, 2_500_000_000);
    expect(report).toContain("Bytes are estimated from the lengths of the values");
    expect(report).toContain(
      "All of it: about 0.9 MB. The database has 2500.0 MB, which is 25.0 % of the 10 GB that D1 allows.",
    );
    expect(report).not.toContain("NEARLY FULL");
  });

  it("says so when the database is nearly full", () => {
    expect(sizeReport(sizes, slugs, 7e9 - 1)).not.toContain("NEARLY FULL");
    expect(sizeReport(sizes, slugs, 7e9)).toContain("IT IS NEARLY FULL: see src/docs/databases.md.");
  });
});

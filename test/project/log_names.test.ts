import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EVENTS, FAULT_PLACES, REFUSAL_REASONS } from "../../src/http/log_names.ts";

/** All kinds of log lines, as in the first column of the table in src/docs/monitoring.md. */
const written = [
  ...EVENTS.filter((event) => event !== "fault" && event !== "refused"),
  ...FAULT_PLACES.map((place) => `fault ${place}`),
  ...Object.values(REFUSAL_REASONS).flatMap((reasons) => reasons.map((reason) => `refused ${reason}`)),
];

/** The rows of that table, without its head. */
const rows = (
  /\n\| Line \|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)/.exec(
    readFileSync("src/docs/monitoring.md", "utf8"),
  )?.[1] ?? ""
)
  .trim()
  .split("\n")
  .map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** `fault` with `chore` is "fault chore"; `refused`: `expired`, `malformed` is two. */
function namesIn(line: string): string[] {
  const [event = "", ...details] = [...line.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  return details.length === 0 ? [event] : details.map((detail) => `${event} ${detail}`);
}

/** The sources of the Worker. The programs that `reference` generates for callers may print. */
const source = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/^reference\b|log_names\.ts$|\.d\.ts$/.test(file))
  .map((file) => readFileSync(join("src", file), "utf8"))
  .join("\n");

describe("The table of log lines in src/docs/monitoring.md", () => {
  it("lists each line that the service can write once, and no other", () => {
    expect(rows.flatMap(([line = ""]) => namesIn(line)).sort()).toEqual(written.sort());
  });

  it("says what each line means and what to do", () => {
    for (const row of rows)
      expect(row, row[0]).toEqual([expect.any(String), ...Array(2).fill(expect.stringMatching(/\w/))]);
  });
});

describe("The names of log lines", () => {
  it("are all used", () => {
    const unused = (names: readonly string[], isUsed: (name: string) => boolean) =>
      names.filter((name) => !isUsed(name));
    const isLogged = (event: string) =>
      source.includes(`log("${event}"`) || source.includes(`: LogEvent = "${event}"`);
    expect([
      ...unused(EVENTS, isLogged),
      ...unused(FAULT_PLACES, (place) => new RegExp(`logFault\\(\\{ ${place}\\b`).test(source)),
      ...unused(Object.values(REFUSAL_REASONS).flat(), (reason) => source.includes(`"${reason}"`)),
    ]).toEqual([]);
  });

  it("have a reason for each 5xx that the service throws", () => {
    const thrown = [...source.matchAll(/new ApiError\(5(?!00)\d\d,[\s\S]*?\);?\n/g)].map(([text]) => text);
    expect(thrown.length).toBeGreaterThan(2);
    for (const text of thrown) expect(text).toContain("reason");
  });
});

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EVENTS, REFUSAL_REASONS } from "../../src/http/log_names.ts";

const FOLDER = "src/docs/monitoring";

const read = (file: string) => readFileSync(join(FOLDER, file), "utf8");

const collector = read("collector.yaml");

/** The fields of the log that the collector makes labels of, and the one that it measures. */
const LABELS = [...collector.matchAll(/- \{ key: (\w+)/g)].map(([, key = ""]) => key);
const MEASURED = "duration_ms";

const VALUES: Record<string, readonly string[]> = {
  event: EVENTS,
  reason: Object.values(REFUSAL_REASONS).flat(),
  status: ["200", "401", "503"],
};

/** The metrics that the collector makes, as Prometheus names them. */
const METRICS = ["visits_log_lines_total", "visits_request_duration_milliseconds_bucket"];

describe.each(["alerts.yaml", "dashboard.json"])("%s", (file) => {
  const text = read(file).replaceAll('\\"', '"');

  it("uses only metrics and labels that the collector makes", () => {
    expect(new Set(text.match(/\bvisits_\w+/g))).toEqual(new Set(METRICS));
    const labels = [...text.matchAll(/\b(\w+)(?:=~|!=|!~|=)"/g)].map(([, label = ""]) => label);
    const grouped = [...text.matchAll(/\bby \((\w+)\)/g)].map(([, label = ""]) => label);
    const known = new Set([...LABELS, "le", "job"]);
    expect([...labels, ...grouped].filter((label) => !known.has(label))).toEqual([]);
    expect(labels.length).toBeGreaterThan(10);
  });

  it("selects only values that the service writes", () => {
    for (const [, label = "", operator, value = ""] of text.matchAll(/\b(\w+)(=~|=)"([^"]*)"/g)) {
      // An alternative of a pattern must match something too.
      const alternatives = operator === "=~" ? value.split("|") : [value];
      for (const each of alternatives) {
        const matches = (known: string) => new RegExp(`^(?:${each})$`).test(known);
        if (label !== "job") expect(VALUES[label]?.some(matches), `${label}="${each}"`).toBe(true);
      }
    }
  });
});

it("collector.yaml makes labels and measurements only of fields that the log has", () => {
  expect(LABELS).toEqual(["event", "status", "reason", "shard"]);
  expect(collector).toContain(`value: attributes["${MEASURED}"]`);
  // The count connector skips a line without an attribute whose default is empty, and Prometheus needs sums.
  expect(collector).not.toContain('default_value: ""');
  expect(collector).toMatch(/receivers: \[count, .*\]\n +processors: \[.*delta_to_cumulative\]/);
  const page = readFileSync("src/docs/monitoring.md", "utf8");
  for (const field of [...LABELS.slice(1), MEASURED]) expect(page).toContain(`\`${field}\``);
  const log = readFileSync("src/http/log.ts", "utf8");
  for (const field of ["event", "status", MEASURED]) expect(log).toMatch(new RegExp(`\\b${field}\\b`));
});

const promtool = process.env.PROMTOOL ?? "promtool";
const hasPromtool = spawnSync(promtool, ["--version"]).status === 0;

it.runIf(hasPromtool).each([
  ["check", "alerts.yaml"],
  ["test", "alerts.test.yaml"],
])("promtool %s rules %s", (command, file) => {
  const { status, stdout, stderr } = spawnSync(promtool, [command, "rules", file], {
    cwd: FOLDER,
    encoding: "utf8",
  });
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0 });
});

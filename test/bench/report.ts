/** The tables in Markdown, and their place in the README of this folder. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type Effort, type Figures, type Measured, ROUND_TRIP_TIME } from "./measure.ts";
import { median, quantile } from "./statistics.ts";
import type { Storage } from "./storage.ts";

const README = "test/bench/README.md";

/** D1's limit for a database, in bytes. */
const DATABASE_LIMIT = 10_000_000_000;

const mark = (isAtFault: boolean) => (isAtFault ? " ⚠" : "");

/** The service's figure / the other's, or one figure if they are equal. */
function pair({ ours, other }: Measured, toText: (figures: Figures) => string | number): string {
  const texts = [ours, ...(other ? [other] : [])].map(toText);
  return [...new Set(texts)].join(" / ");
}

const COLUMNS = ["Operation", "Round trips", "Rows read", "Rows written", "Latency", "CPU"];

function cellsOf(measured: Measured): string[] {
  const { ours, other } = measured;
  const cells = [
    `\`${measured.name.replace(/:\w+_id\b/g, ":id")}\``,
    pair(measured, (figures) => figures.round_trips),
    pair(measured, (figures) => figures.rows_read),
    pair(measured, (figures) => figures.rows_written),
    pair(measured, (figures) => median(figures.latency).toFixed(1)),
    pair(measured, (figures) => median(figures.cpu).toFixed(3)),
  ];
  if (!other) return cells;
  // Compares neighbouring blocks, because the machine's other load slows both down.
  const ratios = ours.cpu.map((cpu, n) => cpu / (other.cpu[n] ?? Number.NaN));
  const [low = 0, middle = 0, high = 0] = [0.25, 0.5, 0.75].map((q) => quantile(ratios, q));
  // More CPU than before in three of four turns is not noise.
  return [...cells, `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})${mark(low > 1)}`];
}

export const lineOf = (measured: Measured) => cellsOf(measured).join("  ");

export function operationTable(operations: Measured[], effort: Effort): string {
  const isComparison = operations.some(({ other }) => other);
  const columns = isComparison ? [...COLUMNS, "Ratio (quartiles)"] : COLUMNS;
  const how = `Milliseconds; latency with ${ROUND_TRIP_TIME} ms for each round trip to D1, the median of ${effort.latency} requests; CPU of a request, the median of ${effort.cpu_blocks} blocks of ${effort.cpu_block} requests.`;
  return [
    `**Operations**${isComparison ? ": now / before, one figure if they are equal" : ""}. ${how}`,
    table(columns, operations.map(cellsOf)),
  ].join("\n\n");
}

export const startUpLine = (cpu: number) =>
  `**Start-up**, once for each isolate: ${cpu.toFixed(1)} ms of CPU to load the bundle.`;

export function storageTable(storage: Storage[]): string {
  const rows = storage.map(({ name, bytes, bound }) => [
    name,
    (bytes / 1000).toFixed(1) + mark(bytes > bound),
    Math.floor(DATABASE_LIMIT / bytes).toLocaleString("en"),
  ]);
  return `**Storage**: the size that a call adds to the database, and the number of calls that fill ${DATABASE_LIMIT / 1e9} GB.

${table(["", "kB", "Calls"], rows)}`;
}

function table(columns: string[], rows: string[][]): string {
  const rule = columns.map((_, n) => (n === 0 ? "---" : "---:"));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function machine(isQuick: boolean): string {
  const date = new Date().toISOString().slice(0, 10);
  const how = isQuick ? " (`--quick`: few samples)" : "";
  return `Measured on ${date}${how}, ${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}.`;
}

export function writeToReadme(markdown: string) {
  const readme = readFileSync(README, "utf8");
  const between = /(?<=<!-- bench -->\n).*(?=<!-- \/bench -->)/s;
  if (!between.test(readme)) throw new Error(`${README} lacks its markers`);
  writeFileSync(
    README,
    readme.replace(between, () => `${markdown}\n`),
  );
}

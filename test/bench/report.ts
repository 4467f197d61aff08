/** The tables, in Markdown, and their place in the README beside this file. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Grown } from "./growth.ts";
import { type Effort, type Figures, type Measured, quantile, ROUND_TRIP_TIME } from "./measurement.ts";
import type { StartUp } from "./start_up.ts";
import { DATABASE_LIMIT, type Storage } from "./storage.ts";

const MARKERS = ["<!-- bench -->", "<!-- /bench -->"] as const;

/** A read may take this many times the floor's latency. */
export const LATENCY_BOUND = 1.15;

export const MARK = " ⚠";

export interface Results {
  operations: Measured[];
  start_up: { ours: StartUp; floor: StartUp };
  storage: Storage[];
  /** By size of the organization. */
  growth: Map<number, Grown[]>;
  effort: Effort;
  started_at: Date;
  is_quick: boolean;
}

/** Without a round trip there is nothing but CPU, which has a ratio of its own. */
export const isSlow = ({ operation, ours, floor }: Measured) =>
  operation.startsWith("GET") &&
  floor !== undefined &&
  floor.round_trips > 0 &&
  ours.median > LATENCY_BOUND * floor.median;

export const readsTooMuch = ({ bound, ours }: Grown) => bound !== undefined && ours.rows_read > bound;

export function toMarkdown(results: Results): string {
  return [
    machine(results),
    doorTables(results.operations, results.effort),
    startUpTable(results),
    storageTable(results),
    growthTable(results),
  ].join("\n\n");
}

/** Replaces what stands between the markers. */
export function writeToReadme(markdown: string, file = "test/bench/README.md") {
  const readme = readFileSync(file, "utf8");
  const [start, end] = MARKERS.map((marker) => readme.indexOf(marker)) as [number, number];
  if (start < 0 || end < start) throw new Error(`${file} lacks the markers ${MARKERS.join(" and ")}`);
  writeFileSync(file, `${readme.slice(0, start + MARKERS[0].length)}\n${markdown}\n${readme.slice(end)}`);
}

export function machine({ started_at, is_quick }: Pick<Results, "started_at" | "is_quick">): string {
  const [cpu] = cpus();
  const how = is_quick ? " (`--quick`: few samples)" : "";
  return `Measured on ${started_at.toISOString().slice(0, 10)}${how}, ${cpus().length} cores of ${cpu?.model.trim()}, Node ${process.versions.node}.`;
}

const NONE = "–";

/** One figure where they are equal. */
const pair = (ours: string, floor: string) => (ours === floor ? ours : `${ours} / ${floor}`);

/** Ours / the floor's, with so many digits after the point. */
const both = ({ ours, floor }: Measured, figure: (figures: Figures) => number, digits = 0) =>
  pair(figure(ours).toFixed(digits), floor ? figure(floor).toFixed(digits) : NONE);

const ratio = (ours: number, floor = 0) => (floor > 0 ? (ours / floor).toFixed(2) : NONE);

export const cpuOf = ({ cpu }: Figures) => quantile(cpu, 0.5);

/** The ratios of neighbouring blocks: what else the machine does slows both down. */
export const cpuRatios = (ours: Figures, other: Figures) =>
  ours.cpu.map((cpu, n) => cpu / (other.cpu[n] ?? 0));

export const code = (operation: string) =>
  operation
    .replaceAll("waiting_room_slug", "slug")
    .replace(/:\w+_id\b/g, ":id")
    .replace(/^[^,]+/, "`$&`");

export const howCpu = ({ cpu_blocks, cpu_block }: Effort) =>
  `CPU of a request is the median of ${cpu_blocks} blocks of ${cpu_block} requests, its ratio the median of the ratios of neighbouring blocks`;

export function doorTables(operations: Measured[], effort: Effort): string {
  const doors = ["external", "platform"] as const;
  return doors.map((door) => doorTable(operations, effort, door)).join("\n\n");
}

function doorTable(operations: Measured[], effort: Effort, door: Measured["door"]): string {
  const rows = operations
    .filter((measured) => measured.door === door)
    .map((measured) => {
      const { operation, ours, floor } = measured;
      return [
        code(operation),
        both(measured, (figures) => figures.round_trips),
        both(measured, (figures) => figures.rows_read),
        both(measured, (figures) => figures.rows_written),
        both(measured, (figures) => figures.median, 1),
        ratio(ours.median, floor?.median) + (isSlow(measured) ? MARK : ""),
        both(measured, (figures) => figures.p99, 1),
        ratio(ours.p99, floor?.p99),
        both(measured, cpuOf, 3),
        floor ? quantile(cpuRatios(ours, floor), 0.5).toFixed(2) : NONE,
      ];
    });
  return `**The ${door} door**, ours / the floor's (one figure where they are equal, ${NONE} where no floor is written). Milliseconds; latency with ${ROUND_TRIP_TIME} ms for each round trip to D1, of ${effort.latency} requests. ${howCpu(effort)}.

${table(["Operation", "Round trips", "Rows read", "Rows written", "Median", "Ratio", "p99", "Ratio", "CPU", "Ratio"], rows)}`;
}

function startUpTable({ start_up: { ours, floor } }: Results): string {
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1);
  return `**Start-up**, once for each isolate.

${table(
  ["", "Ours", "Floor", "Ratio"],
  [
    [
      "Bundle, minified and gzipped, kB",
      kilobytes(ours.size),
      kilobytes(floor.size),
      ratio(ours.size, floor.size),
    ],
    ["CPU to load it, ms", ours.cpu.toFixed(1), floor.cpu.toFixed(1), ratio(ours.cpu, floor.cpu)],
  ],
)}`;
}

export const takesTooMuch = ({ bytes, bound }: Storage) => bound !== undefined && bytes > bound;

function storageTable({ storage }: Pick<Results, "storage">): string {
  const rows = storage.map((each) => [
    each.name,
    (each.bytes / 1000).toFixed(1) + (takesTooMuch(each) ? MARK : ""),
    Math.floor(DATABASE_LIMIT / each.bytes).toLocaleString("en"),
  ]);
  return `**Storage**: what a call adds to the database, and how many fill the ${DATABASE_LIMIT / 1e9} GB of one.

${table(["", "kB", "Calls"], rows)}`;
}

function growthTable({ growth }: Results): string {
  const sizes = [...growth.keys()];
  const names = growth.get(sizes[0] ?? 0)?.map(({ operation }) => operation) ?? [];
  const rows = names.map((name, n) => [
    name,
    ...sizes.flatMap((size) => {
      const grown = growth.get(size)?.[n];
      if (!grown) return ["", "", ""];
      const { ours, floor } = grown;
      return [
        both(grown, (figures) => figures.rows_read) + (readsTooMuch(grown) ? MARK : ""),
        both(grown, (figures) => figures.median, 1),
        ratio(ours.median, floor?.median),
      ];
    }),
  ]);
  const counts = sizes.map((size) => size.toLocaleString("en"));
  const head = counts.flatMap((count) => [`${count}: rows read`, "Median", "Ratio"]);
  return `**Growth**: organizations of ${counts.join(", ")} waiting rooms, invites, calls of one user, and audit entries of one recording; 25 to a page.

${table(["", ...head], rows)}`;
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, n) => (n === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

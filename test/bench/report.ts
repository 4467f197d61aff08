/** The tables, in Markdown, and their place in the README. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Grown } from "./growth.ts";
import { type Measured, ROUND_TRIP_TIME } from "./measurement.ts";
import type { StartUp } from "./start_up.ts";

const MARKERS = ["<!-- bench -->", "<!-- /bench -->"] as const;

/** A read may take this many times the floor's latency. */
export const LATENCY_BOUND = 1.15;

const MARK = " ⚠";

export interface Results {
  operations: Measured[];
  start_up: { ours: StartUp; floor: StartUp };
  /** By size of the organization. */
  growth: Map<number, Grown[]>;
  /** How many requests a latency is taken from. */
  samples: number;
  started_at: Date;
  is_quick: boolean;
}

/** Without a round trip there is nothing but CPU, which has a ratio of its own. */
export const isSlow = ({ operation, ours, floor }: Measured) =>
  operation.startsWith("GET") && floor.round_trips > 0 && ours.median > LATENCY_BOUND * floor.median;

export const readsTooMuch = ({ bound, ours }: Grown) => bound !== undefined && ours.rows_read > bound;

export function toMarkdown(results: Results): string {
  return [machine(results), operationsTable(results), startUpTable(results), growthTable(results)].join(
    "\n\n",
  );
}

/** Replaces what stands between the markers. */
export function writeToReadme(markdown: string, file = "README.md") {
  const readme = readFileSync(file, "utf8");
  const [start, end] = MARKERS.map((marker) => readme.indexOf(marker)) as [number, number];
  if (start < 0 || end < start) throw new Error(`${file} lacks the markers ${MARKERS.join(" and ")}`);
  writeFileSync(file, `${readme.slice(0, start + MARKERS[0].length)}\n${markdown}\n${readme.slice(end)}`);
}

function machine({ started_at, is_quick }: Results): string {
  const [cpu] = cpus();
  const how = is_quick ? " (`--quick`: few samples)" : "";
  return `Measured on ${started_at.toISOString().slice(0, 10)}${how}, ${cpus().length} cores of ${cpu?.model.trim()}, Node ${process.versions.node}.`;
}

/** Ours / the floor's. */
const pair = (ours: string | number, floor: string | number) =>
  ours === floor ? `${ours}` : `${ours} / ${floor}`;

const ratio = (ours: number, floor: number) => (floor > 0 ? (ours / floor).toFixed(2) : "–");

function operationsTable({ operations, samples }: Results): string {
  const rows = operations.map((measured) => {
    const { operation, ours, floor } = measured;
    return [
      `\`${operation.replaceAll("waiting_room_slug", "slug").replace(/:\w+_id\b/g, ":id")}\``,
      pair(ours.round_trips, floor.round_trips),
      pair(ours.rows_read, floor.rows_read),
      pair(ours.rows_written, floor.rows_written),
      pair(ours.median.toFixed(1), floor.median.toFixed(1)),
      ratio(ours.median, floor.median) + (isSlow(measured) ? MARK : ""),
      pair(ours.p99.toFixed(1), floor.p99.toFixed(1)),
      ratio(ours.p99, floor.p99),
      pair(ours.cpu.toFixed(3), floor.cpu.toFixed(3)),
      ratio(ours.cpu, floor.cpu),
    ];
  });
  return `**Each operation**, ours / the floor's (one figure where they are equal). Milliseconds; latency with ${ROUND_TRIP_TIME} ms for each round trip to D1, of ${samples} requests.

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
        pair(ours.rows_read, floor.rows_read) + (readsTooMuch(grown) ? MARK : ""),
        pair(ours.median.toFixed(1), floor.median.toFixed(1)),
        ratio(ours.median, floor.median),
      ];
    }),
  ]);
  const counts = sizes.map((size) => size.toLocaleString("en"));
  const head = counts.flatMap((count) => [`${count}: rows read`, "Median", "Ratio"]);
  return `**Growth**: organizations of ${counts.join(", ")} waiting rooms, invites, calls of one user, and audit entries of one recording; 25 to a page.

${table(["", ...head], rows)}`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, n) => (n === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

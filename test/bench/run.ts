/**
 * `npm run bench`: what each operation costs, beside the least that it could cost, and how lists fare as an
 * organization grows. Prints the tables and writes them to README.md beside this file, which has the options.
 */
import { parseArgs } from "node:util";
import { app } from "../../src/app.ts";
import { type Handler, openClinic } from "./clinic.ts";
import { contendersAgainst, OURS_AND_FLOOR } from "./contenders.ts";
import { type Grown, measureGrowth } from "./growth.ts";
import { openLocalPlatform } from "./local_platform.ts";
import { type Bench, type Figures, type Measured, measure } from "./measurement.ts";
import { meter } from "./metered_database.ts";
import { operations, requireEveryOperation } from "./operations.ts";
import { cpuOf, doorTables, isSlow, machine, readsTooMuch, toMarkdown, writeToReadme } from "./report.ts";
import { takesMoreCpu, toMarkdownAgainst } from "./report_against.ts";
import { measureStartUp } from "./start_up.ts";
import { measureStorage, type Storage } from "./storage.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    against: { type: "string" },
    changed: { type: "string", multiple: true, default: [] },
  },
});

/** Latencies are few, being mostly waiting; CPU needs many requests. */
const EFFORT = values.quick
  ? { latency: 5, cpu_blocks: 16, cpu_block: 30, growth: 2, sizes: [100, 10_000], start_ups: 5, calls: 30 }
  : {
      latency: 40,
      cpu_blocks: 40,
      cpu_block: 40,
      growth: 10,
      sizes: [100, 10_000, 100_000],
      start_ups: 15,
      calls: 500,
    };

const NO_CPU = { latency: EFFORT.growth, cpu_blocks: 0, cpu_block: 0 };

/** Beside the code before, only CPU and counts are compared. */
const effort = values.against ? { ...EFFORT, latency: 0 } : EFFORT;

/** A part, or a comparison, is only printed. */
const isWhole = values.only === "" && values.against === undefined;

const say = (line: string) => process.stderr.write(`${line}\n`);

const run = { started_at: new Date(), is_quick: values.quick, effort };
requireEveryOperation();
const contenders = values.against ? await contendersAgainst(values.against) : OURS_AND_FLOOR;
const platform = await openLocalPlatform();
const metered = meter(platform.database);
const env = platform.envWith(metered.binding);
const bench: Bench = { platform, meter: metered, env, contenders, changed: values.changed };
try {
  const measured: Measured[] = [];
  const growth = new Map<number, Grown[]>();
  let storage: Storage[] = [];
  for (const size of isWhole ? EFFORT.sizes : EFFORT.sizes.slice(0, 1)) {
    say(`\nAn organization of ${size}`);
    const clinic = await openClinic(app.fetch as Handler, env, size);
    if (isWhole)
      growth.set(size, await measureGrowth(bench, clinic, NO_CPU, (grown) => progress(grown, readsTooMuch)));
    if (isWhole && size === EFFORT.sizes[0])
      storage = await measureStorage(platform.database, clinic, EFFORT.calls);
    // Afterwards, because writes make its lists longer.
    if (size === EFFORT.sizes[0])
      for (const operation of operations) {
        if (!operation.name.includes(values.only)) continue;
        const result = await measure(bench, clinic, operation, effort);
        measured.push(result);
        progress(result, values.against ? takesMoreCpu : isSlow);
      }
  }
  if (isWhole) {
    say("\nBundles and their start-up");
    const start_up = measureStartUp(EFFORT.start_ups);
    const markdown = toMarkdown({ ...run, operations: measured, start_up, storage, growth });
    process.stdout.write(`\n${markdown}\n`);
    writeToReadme(markdown);
  } else {
    const tables = values.against ? toMarkdownAgainst(measured, effort) : doorTables(measured, effort);
    process.stdout.write(`\n${machine(run)}\n\n${tables}\n`);
  }
} finally {
  await platform.dispose();
}

function progress<M extends Measured>(result: M, isAtFault: (result: M) => boolean) {
  const { operation, ours, before, floor } = result;
  const counts = `${ours.round_trips} trips, ${ours.rows_read} rows read, ${ours.rows_written} written`;
  const others = Object.entries({ before, floor }).map(([name, figures]) => `${name} ${times(figures)}`);
  say(`${isAtFault(result) ? "⚠" : " "} ${operation}: ${counts}; ${times(ours)} (${others.join("; ")})`);
}

function times(figures: Figures | undefined): string {
  if (!figures) return "–";
  const latency = Number.isNaN(figures.median) ? [] : [`${figures.median.toFixed(1)} ms`];
  const cpu = figures.cpu.length > 0 ? [`CPU ${cpuOf(figures).toFixed(3)} ms`] : [];
  return [...latency, ...cpu].join(", ");
}

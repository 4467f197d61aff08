/**
 * `npm run bench`: what each external operation costs, beside the least that it could cost, and how lists fare as an
 * organization grows. Prints the tables and writes them to the README. `npm run bench -- --quick` takes fewer samples.
 */
import { parseArgs } from "node:util";
import { app } from "../../src/app.ts";
import { type Handler, openClinic } from "./clinic.ts";
import { type Grown, measureGrowth } from "./growth.ts";
import { openLocalPlatform } from "./local_platform.ts";
import { type Bench, type Measured, measure } from "./measurement.ts";
import { meter } from "./metered_database.ts";
import { operations, requireEveryOperation } from "./operations.ts";
import { isSlow, readsTooMuch, toMarkdown, writeToReadme } from "./report.ts";
import { measureStartUp } from "./start_up.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", default: "" } },
});

/** Latencies are few, being mostly waiting; CPU needs many requests. */
const EFFORT = values.quick
  ? { latency: 8, cpu: 400, cpu_block: 100, growth: 2, sizes: [100, 10_000], start_ups: 5 }
  : { latency: 40, cpu: 1600, cpu_block: 200, growth: 10, sizes: [100, 10_000, 100_000], start_ups: 15 };

const say = (line: string) => process.stderr.write(`${line}\n`);

const started_at = new Date();
requireEveryOperation();
say("Bundles and their start-up");
const start_up = measureStartUp(EFFORT.start_ups);
const platform = await openLocalPlatform();
const metered = meter(platform.database);
const bench: Bench = { platform, meter: metered, env: platform.envWith(metered.binding) };
try {
  const growth = new Map<number, Grown[]>();
  const measured: Measured[] = [];
  for (const size of EFFORT.sizes) {
    say(`\nAn organization of ${size}`);
    const clinic = await openClinic(app.fetch as Handler, bench.env, size);
    const effort = { latency: EFFORT.growth, cpu: 0, cpu_block: 1 };
    growth.set(size, await measureGrowth(bench, clinic, effort, (grown) => tell(grown, readsTooMuch)));
    // Afterwards, because writes make its lists longer.
    if (size === EFFORT.sizes[0])
      for (const [operation, example] of Object.entries(operations)) {
        if (!operation.includes(values.only)) continue;
        measured.push(await measure(bench, clinic, operation, example, EFFORT));
        tell(measured.at(-1) as Measured, isSlow);
      }
  }
  const results = {
    operations: measured,
    start_up,
    growth,
    samples: EFFORT.latency,
    started_at,
    is_quick: values.quick,
  };
  const markdown = toMarkdown(results);
  process.stdout.write(`\n${markdown}\n`);
  if (!values.only) writeToReadme(markdown);
} finally {
  await platform.dispose();
}

function tell<M extends Measured>(result: M, isAtFault: (result: M) => boolean) {
  const { operation, ours, floor } = result;
  const counts = `${ours.round_trips} trips, ${ours.rows_read} rows read, ${ours.rows_written} written`;
  const times = `${ours.median.toFixed(1)} ms (floor ${floor.median.toFixed(1)})`;
  const cpu = ours.cpu > 0 ? `, CPU ${ours.cpu.toFixed(3)} ms (floor ${floor.cpu.toFixed(3)})` : "";
  say(`${isAtFault(result) ? "⚠" : " "} ${operation}: ${counts}, ${times}${cpu}`);
}

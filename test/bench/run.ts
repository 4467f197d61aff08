/** `npm run bench`: measures the cost of requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { app } from "../../src/app.ts";
import { requireArguments } from "../../src/dev/command.ts";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { applyMigrations } from "../../src/dev/local_database.ts";
import { runWith } from "../../src/dev/statement_runner.ts";
import { type Handler, likeWorkers } from "../project/support/worker_in_node.ts";
import { openBenchClinic } from "./clinic.ts";
import { type Measured, measure } from "./measure.ts";
import { meter } from "./meter.ts";
import { isTimed, type Operation, operations } from "./operations.ts";
import * as report from "./report.ts";
import { measureStartUp } from "./start_up.ts";
import { measureStorage } from "./storage.ts";

const USAGE = `
Usage: npm run bench -- [--quick] [--only TEXT] [--against DIR]

Measures everything in about ten minutes, and writes the tables into test/bench/README.md. With one of the options, it only prints its
results.

  --quick        fewer samples, in a few minutes
  --only TEXT    only the operations whose names contain this text
  --against DIR  compares with the code of another checkout
  --help, -h     shows this help
`;

const { values } = requireArguments(USAGE, {
  quick: { type: "boolean", default: false },
  only: { type: "string", default: "" },
  against: { type: "string" },
});

const effort = values.quick
  ? { latency: 5, cpu_blocks: 16, cpu_block: 30 }
  : { latency: 40, cpu_blocks: 40, cpu_block: 40 };

/** The visits of the organization. */
const VISITS = 1000;

/** The results of a partial run or a comparison are printed, but not written to the README. */
const isWhole = values.only === "" && values.against === undefined;

const isWanted = (operation: Operation) =>
  isWhole ? isTimed(operation) : operation.name.includes(values.only);

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Finds the handler to compare an operation with: the code of the other checkout if it has the operation. */
async function findOther(): Promise<(operation: Operation) => Handler | undefined> {
  if (values.against === undefined) return () => undefined;
  const { href } = pathToFileURL(resolve(values.against, "src/app.ts"));
  const before: { app: typeof app } = await import(href);
  const routes = new Set(before.app.routes.map(({ method, path }) => `${method} ${path}`));
  return ({ name }) => (routes.has(name) ? (before.app.fetch as Handler) : undefined);
}

likeWorkers();
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const otherOf = await findOther();
await withLocalBindings({ persistTo: folder }, async (env) => {
  await applyMigrations(runWith(env));
  const database = env.DB;
  const metered = meter(database);
  const measured: Measured[] = [];
  const clinic = await openBenchClinic(metered.binding, VISITS);
  const storage = isWhole ? await measureStorage(database, clinic, values.quick ? 30 : 500) : [];
  for (const operation of operations.filter(isWanted)) {
    const its = isTimed(operation) ? clinic : await openBenchClinic(metered.binding, 0);
    const bench = { meter: metered, clinic: its };
    measured.push(await measure(bench, operation, otherOf(operation), effort));
    say(report.lineOf(measured.at(-1) as Measured));
  }
  const parts = [report.machine(values.quick), report.operationTable(measured, effort)];
  if (isWhole) {
    say("Bundles and their start-up");
    parts.push(report.startUpLine(await measureStartUp(values.quick ? 5 : 15)));
    parts.push(report.storageTable(storage));
    if (!values.quick) report.writeToReadme(parts.join("\n\n"));
  }
  process.stdout.write(`\n${parts.join("\n\n")}\n`);
}).finally(() => rmSync(folder, { recursive: true, force: true }));

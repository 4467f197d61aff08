/**
 * `npm run mutants`: takes out the rules of the schema and of the queries one after another, in a copy of the project, and asks
 * whether a test fails. It takes hours for all, so it can be ended and begun again with `--from`.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand, say, UsageError, type Values } from "../../src/dev/command.ts";
import { MINUTE } from "../../src/units.ts";
import { Chance } from "../support/chance.ts";
import { allMutants, KINDS, type Mutant } from "./mutants.ts";
import { SURVIVORS } from "./survivors.ts";

const USAGE = `
Usage: npm run mutants -- [--kind KIND] [--room ROOM] [--name TEXT] [--sample N [--seed N]] [--from N] [--list]

  --kind KIND   only ${KINDS.join(", ")}
  --room ROOM   only the rules of one folder of src
  --name TEXT   only the mutants whose name contains the text
  --sample N    only N mutants, drawn by --seed (default: 1)
  --from N      begins with the mutant of this number
  --list        lists the mutants and runs nothing
`;

const OPTIONS = {
  kind: { type: "string" },
  room: { type: "string" },
  name: { type: "string" },
  sample: { type: "string" },
  seed: { type: "string", default: "1" },
  from: { type: "string", default: "1" },
  list: { type: "boolean", default: false },
} as const;

/** The copy lies within the project, so that its files find the project's packages. */
const COPY = ".mutants";

const COPIED = [
  "src",
  "test",
  "drizzle",
  "dist",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "wrangler.toml",
  ".dev.vars.example",
];

/** A mutant can make a test wait for ever. */
const LONGEST_RUN = 20 * MINUTE;

const PROJECTS = ["worker", "unit", "cron"].flatMap((project) => ["--project", project]);

const testsOf = (room: string) => [
  ...PROJECTS,
  "--project",
  "project",
  "test/project/schema.test.ts",
  ...["worker", "contract", "unit"].map((tests) => `test/${tests}/${room}/`),
];

function succeeds(tests: string[]): Promise<boolean> {
  const vitest = join("..", "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--bail", "1", ...tests], {
    cwd: COPY,
    stdio: "ignore",
    signal: AbortSignal.timeout(LONGEST_RUN),
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

async function isNoticed({ file, at, from, to, room }: Mutant): Promise<boolean> {
  const path = join(COPY, file);
  const original = await readFile(path, "utf8");
  if (original.slice(at, at + from.length) !== from) throw new Error(`${file} has changed`);
  try {
    await writeFile(path, original.slice(0, at) + to + original.slice(at + from.length));
    return !(await succeeds(testsOf(room))) || !(await succeeds(PROJECTS));
  } finally {
    await writeFile(path, original);
  }
}

async function wanted({ kind, room, name, sample, seed }: Values<typeof OPTIONS>): Promise<Mutant[]> {
  const found = (await allMutants()).filter(
    (mutant) =>
      (kind === undefined || mutant.kind === kind) &&
      (room === undefined || mutant.room === room) &&
      mutant.name.includes(name ?? ""),
  );
  if (found.length === 0) throw new UsageError("No mutant is like that");
  if (sample === undefined) return found;
  const chance = new Chance(Number(seed));
  return Array.from({ length: Number(sample) }, () => chance.pick(found));
}

async function run(options: Values<typeof OPTIONS>): Promise<void> {
  const mutants = await wanted(options);
  if (options.list) return say(mutants.map(({ kind, name }) => `${kind}: ${name}`).join("\n"));
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY);
  for (const each of COPIED) await cp(each, join(COPY, each), { recursive: true });
  const rooms = [...new Set(mutants.map(({ room }) => room))];
  for (const room of rooms)
    if (!(await succeeds(testsOf(room)))) throw new Error(`The tests of ${room} fail without any mutant`);
  let unnoticed = 0;
  for (const [n, mutant] of mutants.entries()) {
    if (n + 1 < Number(options.from)) continue;
    const begun = Date.now();
    const noticed = await isNoticed(mutant);
    const reason = SURVIVORS[mutant.name];
    if (!noticed && !reason) unnoticed++;
    const outcome = noticed ? "noticed" : reason ? `known: ${reason}` : "NOT NOTICED";
    const seconds = Math.round((Date.now() - begun) / 1000);
    say(`${n + 1} of ${mutants.length} (${seconds} s) ${mutant.kind}: ${mutant.name}: ${outcome}`);
  }
  await rm(COPY, { recursive: true, force: true });
  if (unnoticed > 0)
    throw new UsageError(`${unnoticed} mutants were not noticed: add a test, or a reason to survivors.ts`);
}

await runCommand(USAGE, OPTIONS, run);

/**
 * `npm run mutants`: takes out the rules of the schema and of the queries one after another, in a copy of the project, and asks whether a test
 * fails. All of them take hours.
 */
import { spawn } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { runCommand, say, UsageError, type Values } from "../../src/dev/command.ts";
import { MINUTE } from "../../src/units.ts";
import { playStories } from "../model/stories.ts";
import { compileAll, type Programs } from "../simulator/isolate.ts";
import { simulate } from "../simulator/simulation.ts";
import { Chance } from "../support/chance.ts";
import { printsOf } from "../support/prints.ts";
import { allMutants, KINDS, type Mutant } from "./mutants.ts";

const USAGE = `
Usage: npm run mutants -- [--kind KIND] [--room ROOM] [--name TEXT] [--sample N [--seed N]]
  [--quick] [--list]

  --kind KIND   only ${KINDS.join(", ")}
  --room ROOM   only the rules of one folder of src
  --name TEXT   only the mutants whose name matches the expression
  --sample N    only N mutants, drawn by --seed (default: 1)
  --quick       runs only the stories and the simulator: what they do not notice may have a test
  --list        lists the mutants and runs nothing
`;

const OPTIONS = {
  kind: { type: "string" },
  room: { type: "string" },
  name: { type: "string" },
  sample: { type: "string" },
  seed: { type: "string", default: "1" },
  quick: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
} as const;

/** The copy lies within the project, so that its files find the project's packages. */
const COPY = join(".mutants", String(process.pid));

const CONFIG = join(COPY, "vitest.config.ts");

const COPIED =
  "src test drizzle dist package.json tsconfig.json vitest.config.ts wrangler.toml .dev.vars.example".split(
    " ",
  );

/** A mutant can make a test wait for ever. */
const LONGEST_RUN = 10 * MINUTE;

const PROJECTS = ["worker", "unit", "cron"].flatMap((project) => ["--project", project]);

const SCHEMA_TEST = ["--project", "project", "test/project/schema.test.ts"];

/** Runs a program in the copy. Returns what it says if it fails. */
async function failureOf(program: string, args: string[]): Promise<string | undefined> {
  const path = relative(COPY, program);
  const child = spawn(process.execPath, [path, ...args], {
    cwd: COPY,
    env: { ...process.env, PWD: resolve(COPY), NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(LONGEST_RUN),
  });
  child.on("error", () => {});
  const { code, output } = await printsOf(child).ended;
  return code === 0 ? undefined : output;
}

async function failureOfTests(tests: string[]): Promise<string | undefined> {
  const args = ["run", "--maxWorkers=1", "--bail=1", "--no-color", ...tests];
  const output = await failureOf("node_modules/vitest/vitest.mjs", args);
  return output && (/FAIL .*/.exec(output)?.[0] ?? output);
}

const isOfSchema = ({ file }: Mutant) => file.endsWith(".sql");

/** Most mutants are noticed by the first few stories. */
const ROUNDS = [
  { stories: 60, seeds: [1, 2] },
  { stories: 140, seeds: [3, 4] },
];

/** Returns what a story of the model or a run of the simulator notices. */
async function noticedByStories(programs: Programs): Promise<string | undefined> {
  for (const [seed, { stories, seeds }] of ROUNDS.entries()) {
    const { failure } = await playStories(programs, stories, { seed, isShortened: false });
    if (failure) return `the model: ${failure.difference}`;
    for (const each of seeds) {
      const [violation] = (await simulate(programs, each)).violations;
      if (violation) return `the simulator: ${violation}`;
    }
  }
}

let programs: Programs | undefined;

/** Plays the stories in this process, which knows them by heart: that is several times faster than in another one. */
async function stories(mutant: Mutant): Promise<string | undefined> {
  const folder = process.cwd();
  process.chdir(COPY);
  try {
    // A mutant of the schema has the same programs. Databases read the schema of the folder.
    const mutated = isOfSchema(mutant) ? programs : undefined;
    const compiled = mutated ?? (await compileAll());
    if (isOfSchema(mutant)) programs = compiled;
    return await noticedByStories(compiled);
  } catch (error) {
    return String(error);
  } finally {
    process.chdir(folder);
  }
}

/** The checks of a mutant, the fastest first. Each returns what noticed it. The stories do not read events. */
function checksOf(mutant: Mutant, isQuick: boolean): (() => Promise<string | undefined>)[] {
  const played = () => stories(mutant);
  const ofRoom = () => failureOfTests(testsOf(mutant));
  const ofSchema = () => failureOfTests(SCHEMA_TEST);
  const first = isOfSchema(mutant) && mutant.kind !== "trigger" ? [ofSchema] : [];
  if (isQuick) return [...first, played];
  const second = /^events_|deliver/.test(mutant.name) ? [ofRoom, played] : [played, ofRoom];
  return [...first, ...second, () => failureOfTests(PROJECTS)];
}

const testsOf = ({ room }: Mutant) => [
  ...PROJECTS,
  ...["worker", "contract", "unit"].map((tests) => `test/${tests}/${room}/`),
];

async function noticedBy(mutant: Mutant, isQuick: boolean): Promise<string | undefined> {
  const { file, at, from, to } = mutant;
  const path = join(COPY, file);
  const original = await readFile(path, "utf8");
  if (original.slice(at, at + from.length) !== from) throw new Error(`${file} has changed`);
  try {
    await writeFile(path, original.slice(0, at) + to + original.slice(at + from.length));
    for (const check of checksOf(mutant, isQuick)) {
      const failure = await check();
      if (failure !== undefined) return failure.replace(/\s+/g, " ").slice(0, 150);
    }
  } finally {
    await writeFile(path, original);
  }
}

async function wanted({ kind, room, name, sample, seed }: Values<typeof OPTIONS>): Promise<Mutant[]> {
  const found = (await allMutants()).filter(
    (mutant) =>
      (kind === undefined || mutant.kind === kind) &&
      (room === undefined || mutant.room === room) &&
      new RegExp(name ?? "").test(mutant.name),
  );
  if (found.length === 0) throw new UsageError("No mutant is like that");
  if (sample === undefined) return found;
  const chance = new Chance(Number(seed));
  const drawn = Array.from({ length: Math.min(Number(sample), found.length) }, () =>
    found.splice(chance.below(found.length), 1),
  );
  return drawn.flat();
}

async function run(options: Values<typeof OPTIONS>): Promise<void> {
  const mutants = await wanted(options);
  if (options.list) return say(mutants.map(({ kind, name }) => `${kind}: ${name}`).join("\n"));
  for (const each of COPIED) await cp(each, join(COPY, each), { recursive: true });
  // Most modules are the same for each mutant.
  const config = await readFile(CONFIG, "utf8");
  await writeFile(CONFIG, config.replace("fsModuleCache: false", "fsModuleCache: true"));
  let unnoticed = 0;
  for (const [n, mutant] of mutants.entries()) {
    const begun = Date.now();
    const failure = await noticedBy(mutant, options.quick);
    if (failure === undefined) unnoticed++;
    const outcome = failure === undefined ? "NOT NOTICED" : `noticed by ${failure}`;
    const seconds = Math.round((Date.now() - begun) / 1000);
    say(`${n + 1} of ${mutants.length} (${seconds} s) ${mutant.kind}: ${mutant.name}: ${outcome}`);
  }
  await rm(COPY, { recursive: true, force: true });
  if (unnoticed > 0)
    throw new UsageError(`${unnoticed} mutants were not noticed: add a test, or delete the rule`);
}

await runCommand(USAGE, OPTIONS, run);

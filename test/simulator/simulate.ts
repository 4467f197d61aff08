/**
 * `npm run simulate`: runs the whole service with everything around it, from one number. A run that breaks a rule ends the
 * command with exit code 1, and its story is printed.
 */
import { createHash } from "node:crypto";
import { runCommand, say, UsageError, type Values } from "../../src/dev/command.ts";
import { MINUTE } from "../../src/units.ts";
import { compileAll, type Programs } from "./isolate.ts";
import { MUTATIONS } from "./mutations.ts";
import { type Run, type Size, simulate, WHOLE } from "./simulation.ts";

const USAGE = `
Usage: npm run simulate -- [--seed N | --seeds A..B | --minutes M] [--digests] | --mutation NAME|all [--seeds A..B]

  --seed N             plays one run, and prints its story
  --seeds A..B         plays these runs (default: 1..100)
  --minutes M          plays as many runs as fit into this time, from the first of --seeds
  --digests            prints the digest of each run's trace
  --mutation NAME|all  makes the service faulty as mutations.ts says, and expects that a run finds each fault
`;

const OPTIONS = {
  seed: { type: "string" },
  seeds: { type: "string" },
  minutes: { type: "string" },
  digests: { type: "boolean", default: false },
  mutation: { type: "string" },
} as const;

/** Seeds in ascending or descending order. */
function* seedsOf(range: string): Generator<number> {
  const [first = Number.NaN, last = first] = range.split("..").map(Number);
  if (!Number.isSafeInteger(first + last))
    throw new UsageError(`${range} is not a range of seeds, such as 1..100`);
  const step = first <= last ? 1 : -1;
  for (let seed = first; seed !== last + step; seed += step) yield seed;
}

/** Plays smaller stories of the same seed, and returns the shortest that breaks a rule too. */
async function shorten(programs: Programs, run: Run): Promise<Run> {
  let shortest = run;
  let size: Size = WHOLE;
  const tryOut = async (smaller: Size) => {
    const played = await simulate(programs, run.seed, smaller);
    if (played.violations.length === 0 || played.steps >= shortest.steps) return;
    shortest = played;
    size = smaller;
  };
  for (const actor of WHOLE.actors)
    await tryOut({ ...size, actors: size.actors.filter((each) => each !== actor) });
  for (let acts = 1; acts < size.acts; acts++) await tryOut({ ...size, acts });
  return shortest;
}

function tell({ seed, trace, violations, steps }: Run): void {
  say(trace.join("\n"));
  say(violations.length === 0 ? "No rule was broken." : `Broken:\n  ${violations.join("\n  ")}`);
  say(`seed ${seed}, ${steps} steps`);
}

function fail(run: Run): never {
  tell(run);
  throw new Error(`Play it again with: npm run simulate -- --seed ${run.seed}`);
}

/**
 * Plays runs until one breaks a rule.
 *
 * @throws Error if one does
 */
async function playMany(
  programs: Programs,
  seeds: Iterable<number>,
  { digests, until }: { digests: boolean; until: number },
): Promise<void> {
  const started = Date.now();
  let steps = 0;
  let runs = 0;
  for (const seed of seeds) {
    if (Date.now() >= until) break;
    const run = await simulate(programs, seed);
    if (digests) say(`${seed} ${createHash("sha256").update(run.trace.join("\n")).digest("hex")}`);
    if (run.violations.length > 0) fail(await shorten(programs, run));
    steps += run.steps;
    runs++;
  }
  const perSecond = Math.round((1000 * steps) / (Date.now() - started));
  say(`${runs} runs, ${steps} steps, ${perSecond} a second: no rule was broken.`);
}

/** @throws Error if no run finds one of the faults */
async function findMutations(wanted: string, seeds: number[]): Promise<void> {
  for (const mutation of MUTATIONS.filter(({ name }) => wanted === "all" || name === wanted)) {
    const programs = await compileAll(mutation);
    let found: string | undefined;
    for (const seed of seeds) {
      const { violations } = await simulate(programs, seed);
      if (violations.length === 0) continue;
      found = `seed ${seed}: ${violations[0]?.slice(0, 100)}`;
      break;
    }
    if (!found) throw new Error(`Not found: ${mutation.name}`);
    say(`${mutation.name}\n  ${found}`);
  }
}

async function run({ seed, seeds, minutes, digests, mutation }: Values<typeof OPTIONS>): Promise<void> {
  if (mutation) return findMutations(mutation, [...seedsOf(seeds ?? "1..200")]);
  const programs = await compileAll();
  if (seed) {
    const played = await simulate(programs, Number(seed));
    if (played.violations.length > 0) fail(await shorten(programs, played));
    return tell(played);
  }
  const until = minutes ? Date.now() + Number(minutes) * MINUTE : Number.POSITIVE_INFINITY;
  await playMany(programs, seedsOf(seeds ?? (minutes ? "1..100000" : "1..100")), { digests, until });
}

await runCommand(USAGE, OPTIONS, run);

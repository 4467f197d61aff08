/**
 * `npm run model`: plays random stories against the model and the service. A story that differs ends the command with exit code 1, and
 * its requests are printed.
 */
import { runCommand, say, UsageError, type Values } from "../../src/dev/command.ts";
import { compileAll } from "../simulator/isolate.ts";
import { MUTATIONS } from "./mutations.ts";
import { playStories } from "./stories.ts";

const USAGE = `
Usage: npm run model -- [--stories N] [--seed N] [--path P] [--answers] | --mutation NAME|all

  --stories N  plays this many stories (default: 1000)
  --seed N     begins with another story (default: 1)
  --path P     plays one story again: a failing story prints its seed and its path
  --answers    prints how often each operation was answered with each status
  --mutation NAME|all  makes the service faulty as mutations.ts says, and expects that a story finds each fault
`;

const OPTIONS = {
  stories: { type: "string", default: "1000" },
  seed: { type: "string", default: "1" },
  path: { type: "string" },
  mutation: { type: "string" },
  answers: { type: "boolean", default: false },
} as const;

/** @throws Error if no story finds one of the faults */
async function findMutations(wanted: string, count: number): Promise<void> {
  for (const mutation of MUTATIONS.filter(({ name }) => wanted === "all" || name === wanted)) {
    const programs = await compileAll(mutation);
    const { failure, stories } = await playStories(programs, count, { seed: 1, isShortened: false });
    if (!failure) throw new Error(`Not found: ${mutation.name}`);
    say(`${mutation.name}\n  story ${stories}: ${failure.difference.slice(0, 200)}`);
  }
}

async function run({ stories, seed, path, answers, mutation }: Values<typeof OPTIONS>): Promise<void> {
  if (!Number.isSafeInteger(Number(stories) + Number(seed)))
    throw new UsageError("--stories and --seed are numbers");
  if (mutation) return findMutations(mutation, Number(stories));
  const programs = await compileAll();
  const started = Date.now();
  const played = await playStories(programs, Number(stories), { seed: Number(seed), path });
  const { failure } = played;
  if (failure) {
    const { difference, story } = failure;
    throw new Error(`${difference}\n\nThe story:${story}\n\nseed ${failure.seed}, path ${failure.path}`);
  }
  if (answers)
    for (const [name, counts] of [...played.answers].sort())
      say(
        `${name}: ${[...counts]
          .sort()
          .map(([status, count]) => `${count}x ${status}`)
          .join(", ")}`,
      );
  const perSecond = Math.round((1000 * played.stories) / (Date.now() - started));
  say(
    `${played.stories} stories, ${played.requests} requests, ${perSecond} stories a second: no difference.`,
  );
}

await runCommand(USAGE, OPTIONS, run);

/**
 * `npm run model`: plays random stories against the model and the service. A story that differs ends the command with exit code 1, and
 * its requests are printed.
 */
import { runCommand, say, UsageError, type Values } from "../../src/dev/command.ts";
import { compileAll } from "../simulator/isolate.ts";
import { playStories } from "./stories.ts";

const USAGE = `
Usage: npm run model -- [--stories N] [--seed N] [--path P] [--answers]

  --stories N  plays this many stories (default: 1000)
  --seed N     begins with another story (default: 1)
  --path P     plays one story again: a failing story prints its seed and its path
  --answers    prints how often each operation was answered with each status
`;

const OPTIONS = {
  stories: { type: "string", default: "1000" },
  seed: { type: "string", default: "1" },
  path: { type: "string" },
  answers: { type: "boolean", default: false },
} as const;

async function run({ stories, seed, path, answers }: Values<typeof OPTIONS>): Promise<void> {
  if (!Number.isSafeInteger(Number(stories) + Number(seed)))
    throw new UsageError("--stories and --seed are numbers");
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

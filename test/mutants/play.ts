/** Ends with exit code 1 if a story of the model or a run of the simulator notices what is wrong with the service. */
import { playStories } from "../model/stories.ts";
import { compileAll } from "../simulator/isolate.ts";
import { simulate } from "../simulator/simulation.ts";

/** Most mutants are noticed by the first few stories. */
const ROUNDS = [
  { stories: 60, seeds: [1, 2] },
  { stories: 140, seeds: [3, 4, 5] },
];

function end(noticed: string): never {
  process.stdout.write(noticed);
  process.exit(1);
}

const programs = await compileAll();
for (const [seed, { stories, seeds }] of ROUNDS.entries()) {
  const { failure } = await playStories(programs, stories, { seed, isShortened: false });
  if (failure) end(`the model: ${failure.difference}`);
  for (const each of seeds) {
    const [violation] = (await simulate(programs, each)).violations;
    if (violation) end(`the simulator: ${violation}`);
  }
}

import { playStories } from "../model/stories.ts";
import type { Programs } from "../simulator/isolate.ts";
import { simulate } from "../simulator/simulation.ts";

/** Most mutants are noticed by the first few stories. */
const ROUNDS = [
  { stories: 60, seeds: [1, 2] },
  { stories: 140, seeds: [3, 4] },
];

/** Returns what a story of the model or a run of the simulator notices. */
export async function noticedByStories(programs: Programs): Promise<string | undefined> {
  for (const [seed, { stories, seeds }] of ROUNDS.entries()) {
    const { failure } = await playStories(programs, stories, { seed, isShortened: false });
    if (failure) return `the model: ${failure.difference}`;
    for (const each of seeds) {
      const [violation] = (await simulate(programs, each)).violations;
      if (violation) return `the simulator: ${violation}`;
    }
  }
}

import { HOUR, MINUTE } from "../../src/units.ts";
import { playBeginning, playEverybody } from "./actors.ts";
import { resume } from "./acts/members.ts";
import { Clinic } from "./clinic.ts";
import { checkAtRest, checkNow } from "./invariants.ts";
import type { Programs } from "./isolate.ts";
import { completeInterruptedMoves, deleteForGood, moveAll } from "./operator.ts";
import { type Odds, World } from "./world.ts";

export interface Run {
  seed: number;
  steps: number;
  trace: string[];
  violations: string[];
}

/** The pauses between the last runs of the cron, in which everything that waits gets its turn. */
const LAST_RUNS = [0, 5 * MINUTE, 5 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR];

/** A smaller story is easier to read. */
export interface Size {
  /** The positions of the actors that take part. */
  actors: number[];
  /** The number of things that each of them does. */
  acts: number;
}

export const WHOLE: Size = { actors: [0, 1, 2, 3, 4, 5, 6, 7], acts: 10 };

/** Plays the story of a seed. */
export async function simulate(programs: Programs, seed: number, size = WHOLE): Promise<Run> {
  const world = new World(seed, programs, 1 + (seed % 2));
  const clinics = [
    new Clinic(world, "Riverside", ["Hillside"]),
    new Clinic(world, "Hillside", ["Riverside"]),
  ];
  for (const [n, clinic] of clinics.entries()) clinic.neighbour = clinics[1 - n] as Clinic;
  const { schedule } = world;
  const during = async (who: string, work: () => Promise<unknown>) => {
    let isOver = false;
    const ended = schedule.as(who, undefined, work).finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    await schedule.runUntil(() => isOver && world.isIdle);
    await ended;
  };
  await during("operator", async () => {
    for (const clinic of clinics) {
      await clinic.open();
      await playBeginning(clinic);
    }
  });
  await during("everybody", () => playEverybody(world, clinics, oddsOf(world), size));
  world.calm();
  await during("operator", async () => {
    await completeInterruptedMoves(world, clinics);
    for (const clinic of clinics) if (clinic.suspension) await resume(clinic);
  });
  for (const pause of LAST_RUNS)
    await during("cron", async () => {
      await schedule.pause(pause);
      await world.runCron();
    });
  await during("operator", () => moveAll(world, clinics));
  await checkAtRest(world, clinics);
  schedule.isOver = false;
  await during("operator", () => deleteForGood(world, clinics[0] as Clinic));
  checkNow(world);
  return { seed, steps: schedule.steps, trace: schedule.trace, violations: [...new Set(world.violations)] };
}

/** Some runs have no faults, so that what goes wrong in them has another cause. */
function oddsOf({ chance }: World): Odds {
  const rate = chance.pick([0, 0.02, 0.1]);
  return { faults: rate, restarts: rate / 4, messages: rate };
}

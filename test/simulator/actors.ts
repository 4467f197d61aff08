import type { Act } from "./acts/act.ts";
import { memberActs } from "./acts/members.ts";
import { planningActs } from "./acts/planning.ts";
import { readingActs } from "./acts/reading.ts";
import { registerActs } from "./acts/register.ts";
import { reportActs } from "./acts/reports.ts";
import { resultActs } from "./acts/results.ts";
import type { Clinic } from "./clinic.ts";
import { moveAround } from "./operator.ts";
import type { Size } from "./simulation.ts";
import type { Odds, World } from "./world.ts";

/** The acts of an organization's own systems. */
const organizationActs: Record<string, Act> = {
  ...planningActs,
  ...registerActs,
  ...resultActs,
  ...readingActs,
};

/** The acts of an organization's video backend. */
const backendActs: Record<string, Act> = { ...reportActs, ...memberActs };

/** Each organization begins with a room, and with a call that has ended, and its results. */
export async function playBeginning(clinic: Clinic): Promise<void> {
  await organizationActs["creates a room"]?.(clinic);
  for (const act of [
    "begins a call",
    "ends a call",
    "reports a transcript",
    "reports a SOAP note",
    "reports a recording",
  ])
    await backendActs[act]?.(clinic);
}

/** Each story has only some of the acts: so those meet more often than if all took part. */
function someOf({ chance }: World, acts: Record<string, Act>): Record<string, Act> {
  const some = Object.entries(acts).filter(() => chance.is(0.35));
  return some.length > 0 ? Object.fromEntries(some) : acts;
}

/** Does things one after another, with pauses. */
async function play(world: World, who: string, clinic: Clinic, acts: Record<string, Act>, count: number) {
  await world.schedule.as(who, undefined, async () => {
    for (let n = 0; n < count; n++) {
      const what = world.chance.pick(Object.keys(acts));
      world.schedule.say(what);
      await acts[what]?.(clinic);
      await world.schedule.pause(world.chance.below(3000));
    }
  });
}

/** Two systems of each organization, its two video backends and the cron, all at the same time. */
export async function playEverybody(world: World, clinics: Clinic[], odds: Odds, size: Size): Promise<void> {
  world.begin(odds);
  let isOver = false;
  const cron = world.schedule.as("cron", undefined, async () => {
    while (!isOver) {
      await world.schedule.pause(20_000 + world.chance.below(20_000));
      await world.runCron();
    }
  });
  const own = someOf(world, organizationActs);
  const reports = someOf(world, backendActs);
  const actors = clinics.flatMap((clinic) => [
    () => play(world, `${clinic.name}'s records`, clinic, own, size.acts),
    () => play(world, `${clinic.name}'s scheduling`, clinic, own, size.acts),
    () => play(world, `${clinic.name}'s backend`, clinic, reports, size.acts),
    () => play(world, `${clinic.name}'s second backend`, clinic, reports, size.acts),
  ]);
  const operator = world.schedule.as("operator", undefined, () => moveAround(world, clinics));
  await Promise.all(actors.filter((_, n) => size.actors.includes(n)).map((act) => act()));
  isOver = true;
  await Promise.all([cron, operator]);
}

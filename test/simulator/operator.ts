import type { Clinic } from "./clinic.ts";
import type { World } from "./world.ts";

/** Isolates use an old place for a minute, and a command refuses to delete it for two. */
const OLD_PLACE_USED_FOR = 130_000;

async function move(world: World, clinic: Clinic, to: number): Promise<boolean> {
  const { schedule } = world;
  const say = (line: string) => schedule.say(line);
  try {
    await world.startMove().moveOrganization(world.run, { id: clinic.id, to }, [0, 1], say);
    return true;
  } catch (error) {
    schedule.say(`the move fails: ${(error as Error).message}`);
    return false;
  }
}

/** With two databases, moves an organization while its actors work. */
export async function moveAround(world: World, clinics: Clinic[]): Promise<void> {
  const { chance, schedule, databases } = world;
  if (databases.length < 2 || chance.is(0.5)) return;
  const clinic = chance.pick(clinics);
  await schedule.pause(chance.below(20_000));
  const to = chance.below(2);
  if (!(await move(world, clinic, to))) clinic.interruptedMoveTo = to;
}

/** The cron skips an organization whose move was interrupted, until the operator runs the command again. */
export async function completeInterruptedMoves(world: World, clinics: Clinic[]): Promise<void> {
  for (const clinic of clinics) {
    if (clinic.interruptedMoveTo === undefined) continue;
    await world.schedule.pause(OLD_PLACE_USED_FOR);
    await moveWithoutFault(world, clinic, clinic.interruptedMoveTo);
  }
}

/** Moves each organization to the other database once everything has had its time, and deletes the rows that are left behind. */
export async function moveAll(world: World, clinics: Clinic[]): Promise<void> {
  const { schedule, databases } = world;
  if (databases.length < 2) return;
  for (const clinic of clinics) {
    const { id } = clinic;
    const [place] = databases[0]?.prepare("select shard from places where id = ?").all(id) ?? [];
    await schedule.pause(OLD_PLACE_USED_FOR);
    await moveWithoutFault(world, clinic, 1 - Number(place?.shard));
    await schedule.pause(OLD_PLACE_USED_FOR);
    await world.startMove().deleteOldRows(world.run, id, [0, 1]);
  }
}

async function moveWithoutFault(world: World, clinic: Clinic, to: number): Promise<void> {
  if (!(await move(world, clinic, to))) world.violation("a move fails without a fault");
}

import type { Clinic } from "./clinic.ts";
import { findText } from "./invariants.ts";
import type { World } from "./world.ts";

/** Isolates use an old place for a minute, and a command refuses to delete it for two. */
const OLD_PLACE_USED_FOR = 130_000;

async function move(world: World, clinic: Clinic, to: number): Promise<boolean> {
  const { schedule } = world;
  const say = (line: string) => schedule.say(line);
  try {
    await world.startCommands().moveOrganization(world.run, { id: clinic.id, to }, [0, 1], say);
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
    await world.startCommands().deleteOldRows(world.run, id, [0, 1]);
  }
}

async function moveWithoutFault(world: World, clinic: Clinic, to: number): Promise<void> {
  if (!(await move(world, clinic, to))) world.violation("a move fails without a fault");
}

/** Suspends an organization and deletes it, while its systems still send requests. Interrupted, the command runs again. */
export async function deleteForGood(world: World, clinic: Clinic): Promise<void> {
  const { schedule, chance } = world;
  const { id, slug, neighbour } = clinic;
  await clinic.platform("PUT", clinic.own, { organization: { is_suspended: true } });
  for (const { key } of clinic.calls)
    await clinic.platform("DELETE", `${clinic.own}/calls/${key}/legal_hold`);
  schedule.faults = chance.pick([0, 0.01]);
  const reports = schedule.as("backend", undefined, async () => {
    for (let n = 0; n < 10; n++) {
      const user = { email: `${n}@late.example`, display_name: clinic.unique("Lou"), roles: ["provider"] };
      await clinic.platform("POST", `${clinic.own}/users`, { user });
      await schedule.pause(chance.below(1000));
    }
  });
  for (let tries = 0; !(await runDeletion(world, clinic)); tries++) {
    if (tries > 8) schedule.faults = 0;
    if (tries > 9) return world.violation("a deletion fails without a fault");
    await schedule.pause(OLD_PLACE_USED_FOR);
  }
  await reports;
  schedule.faults = 0;
  await schedule.pause(OLD_PLACE_USED_FOR);
  await world.runCron();
  const [own, platform, theirs] = [
    await clinic.client("GET", "/roles"),
    await clinic.platform("GET", clinic.own),
    await neighbour.client("GET", "/waiting_rooms"),
  ];
  if (own?.status !== 401) world.violation(`a client of a deleted organization got ${own?.status}`);
  if (platform?.status !== 404)
    world.violation(`a deleted organization was answered with ${platform?.status}`);
  if (theirs?.status !== 200)
    world.violation(`the neighbour of a deleted organization got ${theirs?.status}`);
  for (const file of world.files.keys())
    if (file.startsWith(`recordings/${slug}/`)) world.violation(`a deleted organization has left ${file}`);
  for (const database of world.databases) {
    const text = findText(database, [clinic.name, "@late.example"]);
    if (text) world.violation(`a deleted organization has left ${text}`);
    for (const { name } of database.prepare(TABLES_OF_ORGANIZATIONS).all())
      if (database.prepare(`select 1 from "${name}" where organization_id = ?`).get(id))
        world.violation(`a deleted organization has left rows in ${name}`);
  }
}

const TABLES_OF_ORGANIZATIONS = `select tables.name from sqlite_master tables, pragma_table_info(tables.name) columns
  where tables.type = 'table' and columns.name = 'organization_id'`;

async function runDeletion(world: World, { id }: Clinic): Promise<boolean> {
  const { openLeaving, deleteOrganization } = world.startCommands();
  try {
    const leaving = await openLeaving(world.run, id, [...world.databases.keys()]);
    if (leaving.refusal) throw new Error(leaving.refusal);
    await deleteOrganization(leaving, {
      deleteFiles: async (prefix) => {
        for (const file of world.files.keys())
          if (file.startsWith(`recordings/${prefix}`)) world.files.delete(file);
      },
      async keep(lines) {
        for await (const line of lines) JSON.parse(line);
      },
    });
    return true;
  } catch (error) {
    world.schedule.say(`the deletion fails: ${(error as Error).message}`);
    return false;
  }
}

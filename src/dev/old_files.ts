/** The files that an organization has left behind in regions from which it moved away. */
import { RECORDING_URL_LIFETIME } from "../lifetimes.ts";
import { DAY, MINUTE, SECOND } from "../units.ts";
import { leftBehind, type Moved, OLD_PLACE_USED_FOR } from "./move.ts";
import { copyFiles, deletedAmong, deleteFilesOf } from "./move_files.ts";

/** In milliseconds. Downloads that an isolate signed for the old files go on meanwhile. */
const OLD_FILES_USED_FOR = OLD_PLACE_USED_FOR + RECORDING_URL_LIFETIME * SECOND;

/** The regions in which an organization has left files, each with its last move away from there. */
export async function oldRegions(moved: Moved) {
  const left = await leftBehind(moved);
  const found = left.flatMap(({ between, ...each }) =>
    between ? [[between.from.region, { ...each, between }] as const] : [],
  );
  return [...new Map(found).values()];
}

/**
 * Deletes the files that an organization has left behind in other regions, once the late ones are copied.
 *
 * @returns the regions where a lock keeps sealed days, each with the time until which
 */
export async function deleteOldFiles(moved: Moved): Promise<Map<string, number>> {
  await copyLateFiles(moved);
  const locked = new Map<string, number>();
  for (const { slug, since, between } of await oldRegions(moved)) {
    if (Date.now() < since + OLD_FILES_USED_FOR)
      throw new Error(
        `Downloads may still use the old files: wait ${OLD_FILES_USED_FOR / MINUTE} minutes after the move.`,
      );
    const until = await deleteFilesOf({ id: moved.id, slug }, between.from);
    if (until !== undefined) locked.set(between.from.region, until);
  }
  return locked;
}

/** Copies the recordings that were written to a former region around or after the move. Returns their number. */
export async function copyLateFiles(moved: Moved, say = (_: string) => {}): Promise<number> {
  const { id, run } = moved;
  let copied = 0;
  for (const { slug, home, since, between } of await oldRegions(moved))
    copied += await copyFiles({ id, slug }, between, say, {
      async wantedOf(recordings) {
        // Older files were copied before the switch. If one is missing now, it has been deleted since.
        const late = recordings.filter(({ uploaded }) => uploaded > since - DAY);
        const deleted = await deletedAmong(run, home, id, late);
        return late.filter(({ key }) => !deleted.has(key));
      },
    });
  return copied;
}

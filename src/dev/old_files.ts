import { RECORDING_URL_LIFETIME } from "../lifetimes.ts";
import { DAY, MINUTE, SECOND } from "../units.ts";
import { betweenOf, OLD_PLACE_USED_FOR, open, stateIn } from "./move.ts";
import { type Between, copyFiles, deletedAmong, deleteFilesOf } from "./move_files.ts";
import type { Regions } from "./region_files.ts";
import type { Run } from "./statement_runner.ts";

/** In milliseconds. Downloads that an isolate signed for the old files go on meanwhile. */
const OLD_FILES_USED_FOR = OLD_PLACE_USED_FOR + RECORDING_URL_LIFETIME * SECOND;

/** An organization that may have moved. */
export interface Moved {
  id: number;
  run: Run;
  /** The numbers of all databases. */
  shards: number[];
  regions?: Regions | undefined;
}

/** The regions in which an organization has left files, with its present one, and the time at which it left. */
export async function oldRegions({ id, run, shards, regions }: Moved) {
  const found = new Map<string, { slug: string; home: number; since: number; between: Between }>();
  for (const shard of shards) {
    const { from: home, slug } = await open(run, { id, to: shard }, () => {});
    const { movedTo, since } = await stateIn({ run, id }, shard);
    const between = betweenOf(regions, shard, home);
    if (movedTo === null || !between) continue;
    const earlier = found.get(between.from.region)?.since ?? 0;
    found.set(between.from.region, { slug, home, since: Math.max(since, earlier), between });
  }
  return [...found.values()];
}

/**
 * Deletes the files that an organization has left behind in other regions, once the late ones are copied.
 *
 * @returns the regions where a lock keeps sealed days, each with the time until which
 */
export async function deleteOldFiles(moved: Moved): Promise<Map<string, number>> {
  await copyLateFiles(moved, () => {});
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
export async function copyLateFiles(moved: Moved, say: (line: string) => void): Promise<number> {
  const { id, run } = moved;
  let copied = 0;
  for (const { slug, home, since, between } of await oldRegions(moved)) {
    const { files } = await copyFiles({ id, slug }, between, say, {
      async wantedOf(recordings) {
        // Older files were copied before the switch. If one is missing now, it has been deleted since.
        const late = recordings.filter(({ uploaded }) => uploaded > since - DAY);
        const deleted = await deletedAmong(run, home, id, late);
        return late.filter(({ key }) => !deleted.has(key));
      },
    });
    copied += files;
  }
  return copied;
}

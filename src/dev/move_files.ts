/** Copies an organization's files from the buckets of one region to those of another. See move.ts. */
import { createHash } from "node:crypto";
import type { StoredFile } from "../results/egresses/egresses.files.ts";
import { DAY } from "../units.ts";
import { digestIn, type FileStore, hashing } from "./file_store.ts";
import type { Run } from "./statement_runner.ts";

const FILES_AT_ONCE = 6;

const REPORTED = 100;

/** The number of files that are deleted within the time limit of `deleteFiles`, or looked up in one query. */
const PORTION = 100;

/** The buckets of a region. */
export interface RegionFiles {
  region: string;
  /** The name of the recordings' bucket. */
  bucketName: string;
  recordings: FileStore;
  auditLogs: FileStore;
  /** The days for which a lock keeps the sealed days. 0 without a lock. */
  lockedDays: () => Promise<number>;
}

export interface Between {
  from: RegionFiles;
  to: RegionFiles;
}

export interface Owner {
  id: number;
  slug: string;
}

/** All files of the organization, whether a row names them or not. */
const foldersOf = ({ id, slug }: Owner) =>
  [
    ["recordings", `${slug}/`],
    ["auditLogs", `${id}/`],
  ] as const;

export async function countFiles(owner: Owner, region: RegionFiles) {
  const lists = foldersOf(owner).map(([store, folder]) => region[store].list(folder));
  const files = (await Promise.all(lists)).flat();
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

interface Copying {
  /** Chooses the recordings to copy. */
  wantedOf?: (recordings: StoredFile[]) => Promise<StoredFile[]>;
  /** The files that this run has compared. A storage without their digests would have to send them again. */
  compared?: Set<string>;
}

/** Copies the files that are missing or different, and returns their number. May be run again. */
export async function copyFiles(
  owner: Owner,
  { from, to }: Between,
  say: (line: string) => void,
  { wantedOf = async (recordings) => recordings, compared = new Set() }: Copying = {},
): Promise<number> {
  let copied = 0;
  for (const [store, folder] of foldersOf(owner)) {
    const there = new Map((await to[store].list(folder)).map((file) => [file.key, file]));
    const all = await from[store].list(folder);
    await inParallel(store === "recordings" ? await wantedOf(all) : all, async (file) => {
      const old = there.get(file.key);
      const state = JSON.stringify(file);
      if (compared.has(state) && old?.size === file.size) return;
      const isCopied = await copyFile(file, from[store], to[store], old);
      compared.add(state);
      if (isCopied && ++copied % REPORTED === 0) say(`${copied} files are copied.`);
    });
  }
  return copied;
}

/** @returns false if there is nothing to copy: an equal copy exists, or the file has been deleted since it was listed */
async function copyFile(file: StoredFile, from: FileStore, to: FileStore, old: StoredFile | undefined) {
  if (old?.size === file.size && (await digestIn(from, file)) === (await digestIn(to, old))) return false;
  const found = await from.read(file.key);
  if (!found) return false;
  const hash = createHash("md5");
  const md5 = await to.write(file, hashing(found, hash), found.headers.get("Content-Type") ?? "");
  if (hash.digest("hex") !== (await digestIn(to, { key: file.key, md5 })))
    throw new Error(`The copy of the file ${file.key} differs from the file: run this again.`);
  return true;
}

/** Begins nothing more after a failure, which closes the generator. */
async function inParallel(files: StoredFile[], work: (file: StoredFile) => Promise<void>) {
  const waiting = (function* () {
    yield* files;
  })();
  const workOn = async () => {
    for (const file of waiting) await work(file);
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, workOn));
}

/**
 * Deletes copies of recordings that the service has deleted since. With `isUndone`, deletes the other copies too. Recordings that
 * were only written here stay.
 */
export async function deleteCopies(
  { id, slug }: Owner,
  { from, to }: Between,
  { run, home, isUndone = false }: { run: Run; home: number; isUndone?: boolean },
) {
  const there = new Set((await from.recordings.list(`${slug}/`)).map(({ key }) => key));
  const here = await to.recordings.list(`${slug}/`);
  const extra = here.filter(({ key }) => !there.has(key));
  const deleted = await deletedAmong(run, home, id, extra);
  const doomed = here.filter(({ key }) => deleted.has(key) || (isUndone && there.has(key)));
  await removeFiles(to.recordings, doomed);
}

/** The keys of the files that the service has deleted. */
export async function deletedAmong(run: Run, shard: number, id: number, files: StoredFile[]) {
  const deleted = new Set<string>();
  const sql = `SELECT storage_key FROM egress_files WHERE organization_id = ${id} AND is_deleted
    AND storage_key IN (SELECT value FROM json_each(?))`;
  for (const portion of portionsOf(files)) {
    const [rows = []] = await run(shard, [{ sql, params: [JSON.stringify(portion)] }]);
    for (const { storage_key } of rows) deleted.add(String(storage_key));
  }
  return deleted;
}

/** Deletes the organization's files in a region. Locked files stay: returns the time until which. */
export async function deleteFilesOf({ id, slug }: Owner, region: RegionFiles): Promise<number | undefined> {
  await deleteFolder(region.recordings, `${slug}/`);
  return deleteDays(id, region);
}

export async function deleteDays(id: number, region: RegionFiles): Promise<number | undefined> {
  const lockedDays = await region.lockedDays();
  if (lockedDays === 0) {
    await deleteFolder(region.auditLogs, `${id}/`);
    return undefined;
  }
  const days = await region.auditLogs.list(`${id}/`);
  if (days.length === 0) return undefined;
  return Math.max(...days.map(({ uploaded }) => uploaded)) + lockedDays * DAY;
}

export const deleteFolder = async (store: FileStore, folder: string) =>
  removeFiles(store, await store.list(folder));

/** @throws Error if files could not be deleted, once the others are */
async function removeFiles(store: FileStore, files: StoredFile[]) {
  const failures = new Map<string, string>();
  for (const portion of portionsOf(files))
    for (const each of await store.remove(portion)) failures.set(...each);
  const [reason] = failures.values();
  if (reason)
    throw new Error(`${failures.size} of its files could not be deleted (${reason}): run this again.`);
}

function* portionsOf(files: StoredFile[]) {
  for (let n = 0; n < files.length; n += PORTION) yield files.slice(n, n + PORTION).map(({ key }) => key);
}

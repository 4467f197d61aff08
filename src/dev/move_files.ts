/** Copies an organization's files from the buckets of one region to those of another. See move.ts. */
import type { StoredFile } from "../results/egresses/egresses.files.ts";
import { DAY } from "../units.ts";
import { bodyOf, digestIn, type FileStore, hashing } from "./file_store.ts";
import type { Run } from "./statement_runner.ts";

const FILES_AT_ONCE = 6;

const REPORTED = 100;

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

/** Two regions. */
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
  const counted = { files: 0, bytes: 0 };
  for (const [store, folder] of foldersOf(owner))
    for await (const files of region[store].list(folder))
      for (const { size } of files) {
        counted.files++;
        counted.bytes += size;
      }
  return counted;
}

interface Copying {
  /** Chooses the recordings to copy. */
  isWanted?: (recordings: StoredFile[]) => Promise<StoredFile[]>;
  /** The files that this run has compared. A storage without their digests would have to send them again. */
  compared?: Set<string>;
}

/**
 * Copies the files that are missing or different. May be run again.
 *
 * @throws Error if a copy differs from its file
 */
export async function copyFiles(
  owner: Owner,
  { from, to }: Between,
  say: (line: string) => void,
  { isWanted = async (all) => all, compared = new Set() }: Copying = {},
) {
  const copied = { files: 0, bytes: 0 };
  for (const [store, folder] of foldersOf(owner)) {
    const there = new Map<string, StoredFile>();
    for await (const files of to[store].list(folder)) for (const file of files) there.set(file.key, file);
    for await (const files of from[store].list(folder))
      await inParallel(store === "recordings" ? await isWanted(files) : files, async (file) => {
        const old = there.get(file.key);
        const state = JSON.stringify(file);
        if (compared.has(state) && old?.size === file.size) return;
        const isCopied = await copyFile(file, from[store], to[store], old);
        compared.add(state);
        if (!isCopied) return;
        copied.bytes += file.size;
        if (++copied.files % REPORTED === 0) say(`${copied.files} files are copied.`);
      });
  }
  return copied;
}

/** @returns false if there is nothing to copy: an equal copy exists, or the file has been deleted since it was listed */
async function copyFile(file: StoredFile, from: FileStore, to: FileStore, old: StoredFile | undefined) {
  if (old?.size === file.size && (await digestIn(from, file)) === (await digestIn(to, old))) return false;
  const found = await from.read(file.key);
  if (!found) return false;
  const { body, md5 } = hashing(bodyOf(found));
  const stored = await to.write(file, body, found.headers.get("Content-Type") ?? "");
  if (md5() !== (await digestIn(to, { key: file.key, md5: stored })))
    throw new Error(`The copy of the file ${file.key} differs from the file: run this again.`);
  return true;
}

async function inParallel<Item>(items: Item[], work: (item: Item) => Promise<void>) {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: FILES_AT_ONCE }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

/**
 * Deletes recordings that an earlier copy brought here, but that were deleted in the organization's region since then. The
 * organization is frozen.
 */
export async function deleteStaleCopies(owner: Owner, { from, to }: Between, run: Run, home: number) {
  const kept = new Set<string>();
  for await (const files of from.recordings.list(`${owner.slug}/`))
    for (const { key } of files) kept.add(key);
  for await (const files of to.recordings.list(`${owner.slug}/`)) {
    const extra = files.map(({ key }) => key).filter((key) => !kept.has(key));
    const stale = await deletedAmong(run, home, owner.id, extra);
    requireNone(await removeFiles(to.recordings, [...stale]));
  }
}

/** The files that the service has deleted. */
export async function deletedAmong(
  run: Run,
  shard: number,
  id: number,
  keys: string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const sql = `SELECT storage_key FROM egress_files WHERE organization_id = ${id} AND is_deleted
    AND storage_key IN (SELECT value FROM json_each(?))`;
  const [rows = []] = await run(shard, [{ sql, params: [JSON.stringify(keys)] }]);
  return new Set(rows.map(({ storage_key }) => String(storage_key)));
}

/** Deletes the organization's files in a region. Locked files stay: returns the time until which. */
export async function deleteFilesOf(owner: Owner, region: RegionFiles): Promise<number | undefined> {
  await deleteFolder(region.recordings, `${owner.slug}/`);
  const lockedDays = await region.lockedDays();
  if (lockedDays === 0) {
    await deleteFolder(region.auditLogs, `${owner.id}/`);
    return undefined;
  }
  let newest: number | undefined;
  for await (const files of region.auditLogs.list(`${owner.id}/`))
    for (const { uploaded } of files) newest = Math.max(newest ?? 0, uploaded);
  return newest === undefined ? undefined : newest + lockedDays * DAY;
}

/** @throws Error if files could not be deleted, once the others are */
export async function deleteFolder(store: FileStore, folder: string) {
  const failures = new Map<string, string>();
  for await (const files of store.list(folder))
    for (const each of await removeFiles(
      store,
      files.map(({ key }) => key),
    ))
      failures.set(...each);
  requireNone(failures);
}

/** The number of files in a portion, which is deleted within the time limit of `deleteFiles`. */
const DELETED_AT_ONCE = 100;

async function removeFiles(store: FileStore, keys: string[]) {
  const failures = new Map<string, string>();
  for (let from = 0; from < keys.length; from += DELETED_AT_ONCE)
    for (const each of await store.remove(keys.slice(from, from + DELETED_AT_ONCE))) failures.set(...each);
  return failures;
}

function requireNone(failures: Map<string, string>) {
  const [reason] = failures.values();
  if (reason)
    throw new Error(`${failures.size} of its files could not be deleted (${reason}): run this again.`);
}

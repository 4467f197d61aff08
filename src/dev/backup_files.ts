/** The files of backups: one for each database. */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname } from "node:path";
import { END_OF_BACKUP } from "./backup_statements.ts";

/** By the numbers of their databases, in ascending order: FILE.0, FILE.1 and so on. */
function numberedFiles(file: string): Map<number, string> {
  const prefix = `${basename(file)}.`;
  const shards = readdirSync(dirname(file))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return new Map(shards.sort((a, b) => a - b).map((shard) => [shard, `${file}.${shard}`]));
}

/** @throws Error if there is a backup of this name, of one database or of several: which would be the newer one? */
export function requireNoBackup(file: string) {
  const present = existsSync(file) ? file : numberedFiles(file).values().next().value;
  if (present !== undefined) throw new Error(`${present} exists: an older backup is not overwritten.`);
}

/**
 * What a restore loads, by the numbers of the databases.
 *
 * @throws Error if files of two backups lie together, or that of the first database is missing
 */
export function filesToRestore(file: string, shard: number | undefined): Map<number, string> {
  if (shard !== undefined) return new Map([[shard, file]]);
  const numbered = numberedFiles(file);
  const [first] = numbered.values();
  if (first === undefined) return new Map([[0, file]]);
  if (existsSync(file))
    throw new Error(
      `There are ${file} and ${first}, of two backups. Move the one away that you do not mean.`,
    );
  if (!numbered.has(0))
    throw new Error(`There is no file ${file}.0, of the first database. For one of the others, add --shard.`);
  return numbered;
}

/** @throws Error for a file that was cut off, or is one of `wrangler d1 export` */
export function requireComplete(file: string) {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  if (!hasEnd(file)) throw new Error(`${file} is not a complete file of \`npm run backup\`.`);
}

/** The file's last line says so. */
function hasEnd(file: string): boolean {
  const descriptor = openSync(file, "r");
  const end = Buffer.alloc(END_OF_BACKUP.length + 2);
  readSync(descriptor, end, 0, end.length, Math.max(0, fstatSync(descriptor).size - end.length));
  closeSync(descriptor);
  return end.toString("utf8").replaceAll("\0", "").trim() === END_OF_BACKUP;
}

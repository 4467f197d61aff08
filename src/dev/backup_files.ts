import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname } from "node:path";
import { END_OF_BACKUP } from "./backup_statements.ts";

/** The files FILE.0, FILE.1 and so on, by the numbers of their databases in ascending order. */
function numberedFiles(file: string): Map<number, string> {
  const prefix = `${basename(file)}.`;
  const shards = readdirSync(dirname(file))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return new Map(shards.sort((a, b) => a - b).map((shard) => [shard, `${file}.${shard}`]));
}

/** @throws Error if a backup of this name exists, of one database or of several */
export function requireNoBackup(file: string) {
  const present = existsSync(file) ? file : numberedFiles(file).values().next().value;
  if (present !== undefined) throw new Error(`${present} exists: a backup does not overwrite an older one.`);
}

/** The files for a restore to load, by the numbers of the databases. */
export function filesToRestore(file: string, shard: number | undefined): Map<number, string> {
  if (shard !== undefined) return new Map([[shard, file]]);
  const numbered = numberedFiles(file);
  const [first] = numbered.values();
  if (first === undefined) return new Map([[0, file]]);
  if (existsSync(file))
    throw new Error(
      `${file} and ${first} are from two backups. Move the one away that you do not want to restore.`,
    );
  if (!numbered.has(0))
    throw new Error(`The first database's file ${file}.0 is missing. To restore another one, add --shard.`);
  return numbered;
}

/** @throws Error if the file is missing or cut off, or was written by `wrangler d1 export` */
export function requireComplete(file: string) {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  if (!hasEnd(file)) throw new Error(`${file} is not a complete file from \`npm run backup\`.`);
}

function hasEnd(file: string): boolean {
  const descriptor = openSync(file, "r");
  const end = Buffer.alloc(END_OF_BACKUP.length + 2);
  readSync(descriptor, end, 0, end.length, Math.max(0, fstatSync(descriptor).size - end.length));
  closeSync(descriptor);
  return end.toString("utf8").replaceAll("\0", "").trim() === END_OF_BACKUP;
}

import { betweenOf, leftBehind, type Moved, open, stateIn } from "./move.ts";
import { type Between, countFiles } from "./move_files.ts";
import type { Moving } from "./move_rows.ts";
import type { Move } from "./move_statements.ts";
import { oldRegions } from "./old_files.ts";
import { countRows } from "./organization_rows.ts";
import type { Regions } from "./region_files.ts";
import type { Run } from "./statement_runner.ts";

const totalOf = async (rows: Parameters<typeof countRows>[0], shard: number) =>
  [...(await countRows(rows, [shard])).values()].reduce((sum, count) => sum + count, 0);

/** Estimates. */
const ROWS_A_SECOND = 1500;
const BYTES_A_SECOND = 20_000_000;

async function planFiles(moving: Moving & { slug: string }, { from, to }: Between, rows: number) {
  const { files, bytes } = await countFiles(moving, from);
  const minutes = Math.ceil((bytes / BYTES_A_SECOND + rows / ROWS_A_SECOND) / 60);
  return [
    `Before that, copy its ${files} files (${Math.ceil(bytes / 1e6)} MB) from the region ${from.region} to ${to.region}, while everything goes on`,
    `At ${ROWS_A_SECOND} rows and ${BYTES_A_SECOND / 1e6} MB a second, this takes about ${minutes} minute${minutes === 1 ? "" : "s"}`,
  ];
}

/** The changes that a move, or its `--undo`, would make. */
export async function planMove(run: Run, move: Move, isUndone = false, regions?: Regions): Promise<string[]> {
  const moving = await open(run, move);
  const { id, from, to } = moving;
  const between = betweenOf(regions, from, to);
  if (isUndone)
    return [
      `Undo the move of organization ${id} to shard ${to}: delete the ${await totalOf(moving, to)} rows that were copied there, and let it write again in shard ${from}`,
      ...(between ? [`Delete the copies of its recordings in the region ${between.to.region}`] : []),
    ];
  if (from === to || (await stateIn(moving, from)).movedTo === to)
    return [`Complete the move of organization ${id} to shard ${to}`];
  const rows = await totalOf(moving, from);
  return [
    `Move organization ${id} from shard ${from} to shard ${to}: copy ${rows} rows, and refuse its writes with 503 meanwhile`,
    ...(between ? await planFiles(moving, between, rows) : []),
  ];
}

/** Lists what `--delete-old` will do: nothing if the organization has left nothing behind. */
export async function planDeletion(moved: Moved): Promise<string[]> {
  const { id, run } = moved;
  const plan: string[] = [];
  for (const { slug, between } of await oldRegions(moved)) {
    const { from, to } = between;
    const { files, bytes } = await countFiles({ id, slug }, from);
    if (files > 0)
      plan.push(
        `Copy the recordings that came late to the region ${from.region}, and are missing in ${to.region}`,
        `Delete for good the ${files} files (${Math.ceil(bytes / 1e6)} MB) that it has left in the region ${from.region}`,
      );
  }
  for (const { shard, tables } of await leftBehind(moved)) {
    const rows = await totalOf({ run, id, tables }, shard);
    if (rows > 0)
      plan.push(`Delete for good the ${rows} rows that organization ${id} has left in shard ${shard}`);
  }
  return plan;
}

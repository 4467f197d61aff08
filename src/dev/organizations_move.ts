/** `npm run organizations:move`: moves an organization to another database, or to another region. See move.ts. */
import { CONSENT_USAGE, consentOptions, mayChange, say } from "./command.ts";
import { organizationId, runDatabaseCommand, shardNumber } from "./database_command.ts";
import { boundDatabases, theseDatabases } from "./databases.ts";
import { deleteOldRows, type Moved, moveOrganization, undoMove } from "./move.ts";
import { planDeletion, planMove } from "./move_plans.ts";
import { copyLateFiles, deleteOldFiles } from "./old_files.ts";
import { regionsOf } from "./region_configuration.ts";
import { type Regions, withRegions } from "./region_files.ts";
import { runAt } from "./statement_runner.ts";
import { sameTarget, type Target } from "./wrangler.ts";
import { readConfiguration } from "./wrangler_config.ts";

const USAGE = `
Usage: npm run organizations:move -- --organization ID (--to SHARD | --to-region NAME) [--remote]

Moves an organization to another database. Its writes get 503 while its rows are copied, so run this when there is little traffic. If it
is interrupted, run it again. To another region, its files are copied first, which does not disturb anybody.

To another region with --remote, set the settings RECORDINGS_S3_… of both regions in the environment, as in the secrets of the Worker.

  --organization ID    the id of the organization
  --to SHARD           the number of the database that it moves to
  --to-region NAME     the region that it moves to: to its newest database
  --undo               undoes a move that was interrupted
  --files              copies recordings that were still written to the old region, and moves nothing
  --delete-old         deletes the rows and files that the organization has left behind, and moves nothing
${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  organization: { type: "string" },
  to: { type: "string" },
  "to-region": { type: "string" },
  undo: { type: "boolean" },
  files: { type: "boolean" },
  "delete-old": { type: "boolean" },
} as const;

runDatabaseCommand(USAGE, options, async ({ organization, to, ...values }) => {
  const { "to-region": region, undo, files: isLate, "delete-old": isCleaning, ...target } = values;
  const id = organizationId(organization);
  const shards = (await boundDatabases(target)).map(({ shard }) => shard);
  const shard = region === undefined ? shardNumber(to) : newestOf(target, shards, region);
  const chosen = [shard !== undefined, isLate, isCleaning].filter(Boolean).length;
  if (chosen !== 1 || (undo && shard === undefined) || (region && to))
    throw new Error(
      "Choose one: --to SHARD or --to-region NAME, each perhaps with --undo; or --files; or --delete-old",
    );
  if (shard !== undefined) theseDatabases(target, [shard]);
  await withRegions(target, async (regions) => {
    const moving = { id, shards, target, run: runAt(target), regions };
    if (shard === undefined) await (isLate ? copyLate(moving) : deleteOld(moving));
    else await (undo ? undoTo(moving, shard) : moveTo(moving, shard));
  });
});

interface Moving extends Moved {
  target: Target;
  regions: Regions;
}

/** @throws Error if there is no such region */
function newestOf(target: Target, shards: number[], region: string): number {
  const regions = regionsOf(readConfiguration(target));
  const newest = shards.filter((each) => regions?.get(each) === region).at(-1);
  if (newest !== undefined) return newest;
  const names = [...new Set(regions?.values())].join(", ");
  throw new Error(`--to-region: ${region} must be one of ${names || "SHARD_REGIONS, which is not set"}.`);
}

/** Asks for data on this machine too. */
const mayDo = (plan: string[], target: Target) => mayChange(plan, { ...target, remote: true });

async function moveTo({ id, shards, target, run, regions }: Moving, to: number) {
  if (!(await mayDo(await planMove(run, { id, to }, false, regions), target))) return;
  const moved = await moveOrganization(run, { id, to }, shards, say, regions);
  if (!moved) return;
  const { rows, files, frozen_for_ms } = moved;
  const withFiles = files > 0 ? ` and ${files} files` : "";
  say(
    `It has moved, with ${rows} rows${withFiles}. Its writes were refused for ${Math.round(frozen_for_ms)} ms. What it has left behind stays, its rows frozen, until you run this with --delete-old.`,
  );
  if (files > 0)
    say(
      `The recorder must write its recordings to the bucket ${regions.filesOf(to).bucketName} from now on. When the last recording in the old bucket has ended, run \`npm run organizations:move${sameTarget(target) || " --"} --organization ${id} --files\`.`,
    );
}

async function undoTo({ id, target, run, regions }: Moving, to: number) {
  if (!(await mayDo(await planMove(run, { id, to }, true, regions), target))) return;
  const until = await undoMove(run, { id, to }, regions);
  say("The move is undone: the organization stays where it was.");
  if (until !== undefined) say(`The copies of its sealed days are locked until ${dayOf(until)}.`);
}

async function deleteOld(moving: Moving) {
  const plan = await planDeletion(moving);
  if (plan.length === 0) return say("It has left nothing behind.");
  if (!(await mayDo(plan, moving.target))) return;
  const locked = await deleteOldFiles(moving);
  const deleted = await deleteOldRows(moving.run, moving.id, moving.shards);
  if (deleted.length > 0) say(`Deleted its old rows in shard ${deleted.join(", ")}.`);
  if (moving.regions.regionOf(0)) say("Deleted its old recordings.");
  for (const [region, until] of locked)
    say(`In the region ${region}, its sealed days are locked until ${dayOf(until)}: run this again then.`);
}

async function copyLate(moving: Moving) {
  const plan = [`Copy the recordings of organization ${moving.id} that came late to the old region`];
  if (await mayDo(plan, moving.target)) say(`Copied ${await copyLateFiles(moving, say)} files.`);
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

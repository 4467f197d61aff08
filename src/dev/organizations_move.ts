/** `npm run organizations:move`: moves an organization to another database. See move.ts. */
import { CONSENT_USAGE, consentOptions, mayChange, say } from "./command.ts";
import { organizationId, runDatabaseCommand, shardNumber } from "./database_command.ts";
import { boundDatabases } from "./databases.ts";
import { deleteOldRows, moveOrganization, planDeletion, planMove, undoMove } from "./move.ts";
import { runAt } from "./statement_runner.ts";

const USAGE = `
Usage: npm run organizations:move -- --organization ID --to SHARD [--remote]

Moves an organization to another database. Its writes get 503 while its rows are copied, so run this when there is little traffic. If it
is interrupted, run it again.

  --organization ID    the id of the organization
  --to SHARD           the number of the database that it moves to
  --undo               undoes a move that was interrupted
  --delete-old         deletes the rows that the organization has left behind, and moves nothing
${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  organization: { type: "string" },
  to: { type: "string" },
  undo: { type: "boolean" },
  "delete-old": { type: "boolean" },
} as const;

runDatabaseCommand(
  USAGE,
  options,
  async ({ organization, to, undo, "delete-old": isCleaning, ...target }) => {
    const id = organizationId(organization);
    const shards = (await boundDatabases(target)).map(({ shard }) => shard);
    const shard = shardNumber(to);
    if (isCleaning ? shard !== undefined || undo : shard === undefined)
      throw new Error("Choose one: --to SHARD, --undo --to SHARD, or --delete-old");
    if (shard !== undefined && !shards.includes(shard))
      throw new Error(`${target.config} binds no database ${shard}: it binds ${shards.join(", ")}.`);
    const run = runAt(target);
    const plan =
      shard === undefined
        ? await planDeletion(run, id, shards)
        : await planMove(run, { id, to: shard }, undo);
    if (plan.length === 0) return say("It has left no rows behind.");
    if (!(await mayChange(plan, target))) return;
    if (shard === undefined) {
      const deleted = await deleteOldRows(run, id, shards);
      say(`Deleted its old rows in shard ${deleted.join(", ")}.`);
    } else if (undo) {
      await undoMove(run, { id, to: shard });
      say("The move is undone: the organization stays where it was.");
    } else {
      const moved = await moveOrganization(run, { id, to: shard }, shards, say);
      if (moved)
        say(
          `It has moved, with ${moved.rows} rows. Its writes were refused for ${Math.round(moved.frozen_for)} ms. Its old rows stay, frozen, until you run this with --delete-old.`,
        );
    }
  },
);

/** `npm run organizations:move`: moves an organization to another database while it is used. See move.ts. */

import { runDatabaseCommand, shardNumber } from "./database_command.ts";
import { boundDatabases } from "./databases.ts";
import { deleteOldRows, moveOrganization, undoMove } from "./move.ts";
import { runAt } from "./statement_runner.ts";

const USAGE = `
Usage: npm run organizations:move -- --organization ID --to SHARD [--remote]

Moves an organization to another database while it is used. Its writes are refused for a moment: its clients get 503, and
try again. If this is interrupted, run it again.

  --organization ID    the organization
  --to SHARD           the number of the database to which it moves
  --undo               takes a move back that has not come to its end
  --delete-old         deletes what an organization that has moved has left behind, and moves nothing
`;

const options = {
  organization: { type: "string" },
  to: { type: "string" },
  undo: { type: "boolean" },
  "delete-old": { type: "boolean" },
} as const;

runDatabaseCommand(
  USAGE,
  options,
  async ({ organization, to, undo, "delete-old": isCleaning, ...target }) => {
    if (!/^[1-9]\d{0,15}$/.test(organization ?? "")) throw new Error("Say which one: --organization ID");
    const id = Number(organization);
    const shards = (await boundDatabases(target)).map(({ shard }) => shard);
    const shard = shardNumber(to);
    if (isCleaning ? shard !== undefined || undo : shard === undefined)
      throw new Error("Say one thing: --to SHARD, --undo --to SHARD, or --delete-old");
    if (shard !== undefined && !shards.includes(shard))
      throw new Error(`${target.config} binds no database ${shard}: it binds ${shards.join(", ")}.`);
    const run = runAt(target);
    if (shard === undefined) {
      const deleted = await deleteOldRows(run, id, shards);
      say(
        deleted.length > 0
          ? `Deleted its old rows in shard ${deleted.join(", ")}.`
          : "It has left no rows behind.",
      );
    } else if (undo) {
      await undoMove(run, { id, to: shard });
      say("The move is taken back: the organization lives where it lived.");
    } else {
      const moved = await moveOrganization(run, { id, to: shard }, shards, say);
      if (moved)
        say(
          `It has moved, with ${moved.rows} rows. Its writes were refused for ${Math.round(moved.frozen_for)} ms. Its old rows stay, out of reach, until you run this with --delete-old.`,
        );
    }
  },
);

function say(line: string) {
  process.stdout.write(`${line}\n`);
}

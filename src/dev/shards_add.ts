/**
 * `npm run shards:add`: makes one more database. The local one, or with --remote one in production. Takes --persist-to,
 * --config and --env of wrangler.
 *
 * First the directory gives it a range of ids, and last the configuration gets its binding. So a command that was interrupted
 * has left a number with a range and without a binding, and the next run completes that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { runDatabaseCommand } from "./database_command.ts";
import { bindingToo, boundDatabases, type Database, knownShards, unlessEmpty } from "./databases.ts";
import { OWN_RANGE, rangeStatement, rangeStatements, SHARDS } from "./shard_statements.ts";
import { bindingOf, queryDatabase, runWrangler, type Target, targetFlags } from "./wrangler.ts";
import {
  boundShards,
  databaseBlock,
  databaseName,
  migrationsOf,
  requireToml,
  withDatabase,
} from "./wrangler_config.ts";

const USAGE = `
Usage: npm run shards:add -- [--remote]

  --jurisdiction NAME  of a new database in production: eu keeps its data in the EU for good
  --location NAME      of a new database in production: where it is, such as weur
`;

const options = { jurisdiction: { type: "string" }, location: { type: "string" } } as const;

/** For `wrangler d1 create`. */
type Place = { jurisdiction?: string; location?: string };

runDatabaseCommand(USAGE, options, ({ jurisdiction, location, ...target }) =>
  addShard(target, { jurisdiction, location }),
);

function addShard(target: Target, place: Place) {
  requireToml(target.config);
  const directory = unlessEmpty(() => queryDatabase(target, [SHARDS]));
  if (!directory)
    throw new Error(
      `The first database lacks the newest migration. Run \`npm run ${target.remote ? "deploy" : "dev"}\` before.`,
    );
  const shard = nextShard(target);
  const name = databaseName(target, shard);
  say(`Shard ${shard}: the database ${name}.`);
  const [, given] = queryDatabase(target, [rangeStatement(shard), `${SHARDS}`]);
  const range = Number(given?.find((each) => each.shard === shard)?.range);
  say(`Its range of ids is ${range}.`);
  if (target.remote) makeDatabase(name, place);
  const isBound = boundShards(target).includes(shard);
  const database = { ...(isBound ? target : bindingToo(target, [shard])), shard };
  prepare(database, range);
  if (!isBound) bind(target, shard, name);
  introduce(target, shard);
}

function say(line: string) {
  process.stdout.write(`${line}\n`);
}

/** The lowest number whose database is not complete. */
function nextShard(target: Target): number {
  const ranges = new Map(knownShards(target).map(({ shard, range }) => [shard, range]));
  const bound = boundDatabases(target).filter(({ shard }) => shard > 0);
  const complete = bound.filter((database) => isComplete(database, ranges.get(database.shard)));
  const taken = new Set(complete.map(({ shard }) => shard));
  let shard = 1;
  while (taken.has(shard)) shard++;
  return shard;
}

/** @throws Error if the range is another than the directory has given */
function isComplete(database: Database, given: number | undefined): boolean {
  const own = ownRange(database);
  if (own !== undefined && own !== given)
    throw new Error(
      `${bindingOf(database.shard)} has the range ${own}, of which the first database does not know. ` +
        "Run `npm run shards:reconcile` before.",
    );
  return own !== undefined;
}

function ownRange(database: Database): number | undefined {
  const range = unlessEmpty(() => queryDatabase(database, [OWN_RANGE]))?.[0]?.[0]?.range;
  return range === undefined || range === null ? undefined : Number(range);
}

/** An earlier run may have made it. */
function makeDatabase(name: string, place: Place) {
  const list: { name: string }[] = JSON.parse(runWrangler(["d1", "list", "--json"]));
  if (list.some((each) => each.name === name)) return say("It is there already.");
  const flags = Object.entries(place).flatMap(([flag, value]) => (value ? [`--${flag}`, value] : []));
  runWrangler(["d1", "create", name, "--update-config=false", ...flags], { stdio: "inherit" });
}

function prepare(database: Database, range: number) {
  const binding = bindingOf(database.shard);
  runWrangler(["d1", "migrations", "apply", binding, ...targetFlags(database)]);
  const [organizations] = queryDatabase(database, ["SELECT id FROM organizations LIMIT 1"]);
  const own = ownRange(database);
  if (own !== undefined && own !== range)
    throw new Error(`${binding} has the range ${own} already: it is a database of another service.`);
  if (own === undefined && organizations?.length)
    throw new Error(`${binding} has organizations, but no range: it is not a new database.`);
  queryDatabase(database, rangeStatements(database.shard, range));
  say("It has its tables, and ids of its own.");
}

function bind({ config, env }: Target, shard: number, name: string) {
  const block = databaseBlock(env, shard, name, migrationsOf({ config, env }));
  writeFileSync(config, withDatabase(readFileSync(config, "utf8"), env, block));
  say(`${config} binds it as ${bindingOf(shard)}.`);
}

function introduce({ remote, config }: Target, shard: number) {
  const next = remote
    ? `Commit ${config}, then run \`npm run deploy\`. From then on`
    : "When the server has started again,";
  say(
    `\nNext: \`npm run types\`, because the service has another binding. ${next} new organizations live in shard ${shard}, ` +
      "unless NEW_ORGANIZATIONS_SHARD names another one.",
  );
}

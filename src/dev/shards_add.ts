/**
 * `npm run shards:add`: adds a database.
 *
 * The first step gives it a range of ids in the directory, the last one adds its binding to the configuration. So an interrupted
 * run leaves a database with a range but no binding, and the next run completes it. All checks come before the first step.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { stateOfBucket, stateOfDatabase } from "./account_state.ts";
import { CONSENT_USAGE, consentOptions, say } from "./command.ts";
import { runDatabaseCommand } from "./database_command.ts";
import {
  type Database,
  givenRange,
  homeless,
  type KnownShard,
  ownRange,
  shardsOfDirectory,
} from "./databases.ts";
import { SCHEMA } from "./exported_copy.ts";
import { migrate } from "./local_database.ts";
import {
  bucketsOfRegion,
  missingNames,
  regionsOf,
  requireRegionName,
  withRegion,
} from "./region_configuration.ts";
import { JURISDICTIONS } from "./setup_configuration.ts";
import { bucketSteps, databaseSteps, IN_THE_US } from "./setup_plan.ts";
import { rangeStatement, rangeStatements } from "./shard_statements.ts";
import { queryDatabase } from "./statement_runner.ts";
import { carryOut, type Step } from "./steps.ts";
import { bindingOf, sameConfig, sameTarget, type Target } from "./wrangler.ts";
import {
  bindDatabase,
  boundShards,
  configurationOf,
  databaseIn,
  readConfiguration,
  requireExtensible,
} from "./wrangler_config.ts";

const USAGE = `
Usage: npm run shards:add -- [--remote] [--region eu] [--jurisdiction eu]

Adds a database for new organizations: creates it with its tables, gives it a range of ids, and adds its binding to wrangler.toml.
Existing organizations stay where they are. If it is interrupted, run it again.

  --region NAME        the region of the database, if the service has regions. For the first database of a region, this also creates its
                       buckets, in the same jurisdiction or location, and adds their bindings
  --jurisdiction NAME  the jurisdiction in which a new database in production keeps its data for good: ${JURISDICTIONS.join(", ")}
  --location NAME      the location of a new database in production, such as weur
${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  region: { type: "string" },
  jurisdiction: { type: "string" },
  location: { type: "string" },
} as const;

type Place = Partial<Record<"region" | "jurisdiction" | "location", string | undefined>>;

runDatabaseCommand(USAGE, options, async ({ region, jurisdiction, location, ...target }) => {
  requireExtensible(target.config);
  requireRegion(target, region);
  const known = await requireDirectory(target);
  const shard = await nextShard(target, known);
  const isBound = boundShards(target).includes(shard);
  const config = isBound ? target.config : configurationOf(shard + 1, target, ".wrangler-adding.toml");
  try {
    const place = { region, jurisdiction, location };
    const steps = await planShard(target, { ...target, config, shard }, known, place);
    if (!(await carryOut(steps, target))) return;
  } finally {
    if (!isBound) rmSync(config);
  }
  sayNext(target, shard, region);
});

/** @param database in a configuration that binds it */
async function planShard(
  target: Target,
  database: Database,
  known: KnownShard[],
  place: Place,
): Promise<Step[]> {
  const { shard, remote } = database;
  const { region } = place;
  const bound = databaseIn(database, shard);
  const state = remote ? await stateOfDatabase(target, bound) : undefined;
  const isThere = !remote || state?.found !== undefined;
  const ofDatabase = state ? databaseSteps({ ...target, ...place }, state) : [];
  const jurisdiction = place.jurisdiction ?? state?.found?.jurisdiction ?? undefined;
  const location = place.location ?? (jurisdiction === "us" ? IN_THE_US : undefined);
  const missing =
    remote && region !== undefined ? bucketsOfRegion(readConfiguration(target), region, jurisdiction) : [];
  const buckets = await Promise.all(missing.map((each) => stateOfBucket(target, each)));
  const own = isThere ? await requireOurs(database, known) : undefined;
  if (!isThere) requireNobody(database, known);
  const takeRange = async () => {
    const [given] = await queryDatabase(target, [rangeStatement(shard, own)]);
    return Number(given?.[0]?.range);
  };
  return [
    {
      says: `Give the database ${bound.database_name} a range of ids, as shard ${shard}`,
      run: async () => say(`Its range of ids is ${await takeRange()}.`),
    },
    ...ofDatabase,
    {
      says: "Create its tables",
      async run() {
        await migrate(database);
        await queryDatabase(database, [...rangeStatements(shard, await takeRange()), "PRAGMA optimize"]);
      },
    },
    ...buckets.flatMap((bucket) => bucketSteps(target, bucket, location)),
    {
      says: `Bind it as ${bindingOf(shard)} in ${target.config}: new organizations${region ? ` of the region ${region}` : ""} will live there`,
      run() {
        const text = readFileSync(target.config, "utf8");
        if (region !== undefined)
          writeFileSync(target.config, withRegion(text, target.env, { shard, region, jurisdiction }));
        bindDatabase(target, shard);
      },
    },
  ];
}

/** @throws Error unless the database gets a region if the others have one */
function requireRegion(target: Target, region: string | undefined) {
  requireRegionName(region);
  const regions = regionsOf(readConfiguration(target));
  if (region !== undefined && !regions)
    throw new Error(
      `First name the region of the first database: \`npm run setup -- --region NAME\`, or SHARD_REGIONS = "0=NAME" in ${target.config}.`,
    );
  if (region === undefined && regions)
    throw new Error(`Add --region: ${[...new Set(regions.values())].join(", ")}, or a new one.`);
}

async function nextShard(target: Target, known: KnownShard[]): Promise<number> {
  const bound = boundShards(target);
  let shard = 1;
  while (bound.includes(shard) && (await isComplete({ ...target, shard }, known))) shard++;
  return shard;
}

async function requireDirectory(target: Target): Promise<KnownShard[]> {
  const known = await shardsOfDirectory(target);
  if (known) return known;
  throw new Error(
    `The first database lacks the newest migration. First run \`npm run ${target.remote ? "deploy" : "dev"}${sameTarget({ ...target, remote: false })}\`.`,
  );
}

async function isComplete(database: Database, known: KnownShard[]): Promise<boolean> {
  const own = await ownRange(database, known);
  return own !== undefined && own === givenRange(database, known);
}

/** Returns the range of a database of ours, which the directory may have lost in a restore; undefined for an empty database. */
async function requireOurs(database: Database, known: KnownShard[]): Promise<number | undefined> {
  const binding = bindingOf(database.shard);
  const own = await ownRange(database, known);
  if (own !== undefined) {
    const given = givenRange(database, known);
    if (own === given || (given === undefined && !known.some(({ range }) => range === own))) return own;
    throw new Error(`${binding} already has the range ${own}: it belongs to another service.`);
  }
  requireNobody(database, known);
  const tables = (await tableNames(database)).filter((name) => name !== "d1_migrations");
  if (tables.length > 0 && !tables.includes("database_settings"))
    throw new Error(`${binding} has tables of another application: it is not a new database.`);
  const [organizations] =
    tables.length > 0 ? await queryDatabase(database, ["SELECT id FROM organizations LIMIT 1"]) : [];
  if (organizations?.length)
    throw new Error(`${binding} has organizations, but no range: it is not a new database.`);
  return undefined;
}

/** @throws Error if the directory says that organizations live in the database, which has none */
function requireNobody({ shard }: Database, known: KnownShard[]) {
  const home = known.find((each) => each.shard === shard);
  if (home?.organizations) throw new Error(homeless(home));
}

async function tableNames(database: Database): Promise<string[]> {
  const [schema = []] = await queryDatabase(database, [SCHEMA]);
  return schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
}

function sayNext(target: Target, shard: number, region: string | undefined) {
  const next = target.remote
    ? `Commit ${target.config}, then run \`npm run deploy${sameTarget(target, { withRemote: false })}\`. From then on,`
    : "After a restart of the server,";
  say(
    `\nNext: \`npm run types\`, for the new binding. ${next} new organizations live in shard ${shard}, ` +
      "unless NEW_ORGANIZATIONS_SHARD names another one.",
  );
  const configuration = readConfiguration(target);
  if (region === undefined || regionsOf(configuration)?.get(0) === region) return;
  // Only the operator knows their values.
  say(`\nSet the settings of the region ${region}${target.remote ? "" : ", here in .dev.vars"}:`);
  for (const name of missingNames(configuration, region))
    say(target.remote ? `  npx wrangler secret put ${name}${sameConfig(target)}` : `  ${name}`);
}

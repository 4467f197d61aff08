/**
 * `npm run shards:add`: adds a database.
 *
 * The first step gives it a range of ids in the directory, the last one adds its binding to the configuration. So an interrupted
 * run leaves a database with a range but no binding, and the next run completes it. All checks come before the first step.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { replicateDatabase, stateOfBucket, stateOfDatabase } from "./account_state.ts";
import { CONSENT_USAGE, type Consent, consentOptions, mayChange, say } from "./command.ts";
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
import { applyMigrations } from "./local_database.ts";
import {
  bucketsOfRegion,
  missingNames,
  regionsOf,
  requireRegionName,
  withRegion,
} from "./region_configuration.ts";
import { JURISDICTIONS } from "./setup_configuration.ts";
import { bucketSteps, IN_THE_US } from "./setup_plan.ts";
import { rangeStatement, rangeStatements } from "./shard_statements.ts";
import { queryDatabase, runAt } from "./statement_runner.ts";
import {
  bindingOf,
  configFlags,
  flagsOf,
  runWrangler,
  sameConfig,
  sameTarget,
  type Target,
  targetFlags,
} from "./wrangler.ts";
import {
  bindDatabase,
  boundShards,
  configurationOf,
  databaseId,
  databaseName,
  readConfiguration,
  requireExtensible,
  type WranglerConfiguration,
} from "./wrangler_config.ts";

type Place = { jurisdiction?: string; location?: string };

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

runDatabaseCommand(USAGE, options, ({ region, jurisdiction, location, ...target }) =>
  addShard(target, { jurisdiction, location }, region),
);

async function addShard(target: Target & Consent, place: Place, region: string | undefined) {
  requireExtensible(target.config);
  const configuration = readConfiguration(target);
  const regions = requireRegion(target, configuration, region);
  const known = await requireDirectory(target);
  const shard = await nextShard(target, known);
  const isBound = boundShards(target).includes(shard);
  const name = databaseName(target, shard);
  const bound = { binding: bindingOf(shard), database_name: name, database_id: databaseId(target, shard) };
  const found = target.remote ? (await stateOfDatabase(target, bound)).found : undefined;
  const isThere = !target.remote || bound.database_id !== undefined || found !== undefined;
  const jurisdiction = place.jurisdiction ?? found?.jurisdiction ?? undefined;
  const added = region === undefined ? undefined : { shard, region, jurisdiction };
  const location = place.location ?? (jurisdiction === "us" ? IN_THE_US : undefined);
  const isOther = region !== undefined && regions?.get(0) !== region;
  const buckets =
    target.remote && isOther
      ? await Promise.all(
          bucketsOfRegion(configuration, region, jurisdiction).map((each) => stateOfBucket(target, each)),
        )
      : [];
  const steps = buckets.flatMap((bucket) => bucketSteps(target, bucket, location));
  if (isThere && target.remote) refusePlace(name, place, found?.jurisdiction, steps.length > 0);
  const config = isBound ? target.config : configurationOf(shard + 1, target, ".wrangler-adding.toml");
  try {
    const database = { ...target, config, shard };
    const own = isThere ? await requireOurs(database, known) : undefined;
    if (!isThere) requireNobody(database, known);
    const made = ["Create the database", name, ...flagsOf(place)].join(" ");
    const plan = [
      `Give the database ${name} a range of ids, as shard ${shard}`,
      ...(isThere ? [] : [made]),
      ...(target.remote ? ["Turn on its read replication"] : []),
      "Create its tables",
      ...steps.map(({ says }) => says),
      ...(isBound
        ? []
        : [
            `Bind it as ${bindingOf(shard)} in ${target.config}: new organizations${region ? ` of the region ${region}` : ""} will live there`,
          ]),
    ];
    if (!(await mayChange(plan, target))) return;
    await complete(database, { own, name, place, isThere });
    for (const { says, run } of steps) {
      await run?.();
      say(`Done: ${says}`);
    }
    // Before the binding, which ends the command's work.
    if (added)
      writeFileSync(target.config, withRegion(readFileSync(target.config, "utf8"), target.env, added));
    bindDatabase(target, shard);
  } finally {
    if (!isBound) rmSync(config);
  }
  say(`${target.config} binds it as ${bindingOf(shard)}.`);
  sayNext(target, shard);
  if (isOther) sayMissing(target, region);
}

/** @throws Error unless the database gets a region if the others have one */
function requireRegion(target: Target, configuration: WranglerConfiguration, region: string | undefined) {
  requireRegionName(region);
  const regions = regionsOf(configuration);
  if (region !== undefined && !regions)
    throw new Error(
      `First name the region of the first database: \`npm run setup -- --region NAME\`, or SHARD_REGIONS = "0=NAME" in ${target.config}.`,
    );
  if (region === undefined && regions)
    throw new Error(`Add --region: ${[...new Set(regions.values())].join(", ")}, or a new one.`);
  return regions;
}

/** Prints the settings of the region that the configuration lacks. Only the operator knows their values. */
function sayMissing(target: Target, region: string) {
  say(`\nSet the settings of the region ${region}${target.remote ? "" : ", here in .dev.vars"}:`);
  for (const name of missingNames(readConfiguration(target), region))
    say(target.remote ? `  npx wrangler secret put ${name}${sameConfig(target)}` : `  ${name}`);
}

interface Adding {
  /** The range of ids that the database already has. */
  own: number | undefined;
  name: string;
  place: Place;
  isThere: boolean;
}

async function complete(database: Database, { own, name, place, isThere }: Adding) {
  const { shard, ...target } = database;
  const [given] = await queryDatabase(target, [rangeStatement(shard, own)]);
  const range = Number(given?.[0]?.range);
  say(`Its range of ids is ${range}.`);
  if (isThere && target.remote) say("It exists already.");
  if (!isThere) {
    await makeDatabase(target, name, place);
    say("It is created.");
  }
  if (target.remote) {
    await replicateDatabase(target, name);
    say("Its read replication is on.");
    await runWrangler(["d1", "migrations", "apply", bindingOf(shard), ...targetFlags(database)]);
  } else await applyMigrations(runAt(database), shard);
  await queryDatabase(database, [...rangeStatements(shard, range), "PRAGMA optimize"]);
  say("It has its tables, and its own ids.");
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

/**
 * @returns the database's range; undefined if it has none yet
 * @throws Error unless the database is empty and no organization lives there, or it has the range that the directory gave it.
 *   The directory may have lost that range, if it was restored from an earlier time.
 */
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

/** @throws Error if the directory says that organizations live in the database, although the database has none */
function requireNobody({ shard }: Database, known: KnownShard[]) {
  const home = known.find((each) => each.shard === shard);
  if (home?.organizations) throw new Error(homeless(home));
}

async function tableNames(database: Database): Promise<string[]> {
  const [schema = []] = await queryDatabase(database, [SCHEMA]);
  return schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
}

function sayNext(target: Target, shard: number) {
  const next = target.remote
    ? `Commit ${target.config}, then run \`npm run deploy${sameTarget(target, { withRemote: false })}\`. From then on,`
    : "After a restart of the server,";
  say(
    `\nNext: \`npm run types\`, for the new binding. ${next} new organizations live in shard ${shard}, ` +
      "unless NEW_ORGANIZATIONS_SHARD names another one.",
  );
}

/**
 * An interrupted run is repeated with the same place.
 *
 * @throws Error if another place is given, since an existing database cannot be moved
 */
function refusePlace(
  name: string,
  place: Place,
  jurisdiction: string | null | undefined,
  hasBuckets: boolean,
) {
  const isSame = place.jurisdiction !== undefined && place.jurisdiction === jurisdiction;
  const [flag] = flagsOf({
    jurisdiction: isSame ? undefined : place.jurisdiction,
    // Its buckets are still to be created.
    location: hasBuckets ? undefined : place.location,
  });
  if (flag === undefined) return;
  throw new Error(
    `The database ${name} exists already, and ${flag} cannot move it. See where it is: \`npx wrangler d1 info ${name}\`. ` +
      `If that is the right place, run this again without ${flag}. Otherwise delete it, if it is empty: \`npx wrangler d1 delete ${name}\`.`,
  );
}

/** Keeps wrangler from editing the configuration: it would add a binding with another name. */
async function makeDatabase(target: Target, name: string, place: Place) {
  await runWrangler([
    "d1",
    "create",
    name,
    "--update-config=false",
    ...configFlags(target),
    ...flagsOf(place),
  ]);
}

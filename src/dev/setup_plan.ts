import { existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  type AccountState,
  type Bucket,
  emptyAccount,
  isReplicated,
  readAccountState,
  replicateDatabase,
  turnReplicationOn,
} from "./account_state.ts";
import { type Account, LoginError } from "./cloudflare_api.ts";
import { say } from "./command.ts";
import { regionsOf, withRegion } from "./region_configuration.ts";
import {
  configurationOfText,
  isFirst,
  withEnvironment,
  withJurisdiction,
  withPlacement,
} from "./setup_configuration.ts";
import { makeSecrets, RANDOM_SECRETS, secretsFile } from "./setup_secrets.ts";
import type { Step } from "./steps.ts";
import { configFlags, flagsOf, runWrangler } from "./wrangler.ts";
import { shardsIn, type WranglerConfiguration } from "./wrangler_config.ts";

export interface SetupRequest extends Account {
  location?: string | undefined;
  jurisdiction?: string | undefined;
  region?: string | undefined;
}

export interface Plan {
  steps: Step[];
  configuration: WranglerConfiguration;
  /** The names of the Worker's secrets before the plan is carried out. */
  secrets: string[];
  /** Whether there is, or will be, a file of secrets that the operator must put away. */
  usesFile: boolean;
}

/** Six years: HIPAA requires an access log to be kept that long. */
export const LOCKED_DAYS = 2192;

const LOCK = "sealed-days";

/** @param isDry whether the plan is only shown. Without a login, it is then the plan for an empty account. */
export async function planSetup(request: SetupRequest, isDry = false): Promise<Plan> {
  const { config, env } = request;
  const { steps: edits, configuration } = planConfiguration(request);
  const state = await readAccountState({ config }, configuration, env).catch((error) => {
    if (!isDry || !(error instanceof LoginError)) throw error;
    say("You are not logged in at Cloudflare: this is the plan for an empty account.");
    return emptyAccount(configuration);
  });
  const ofBuckets = configuration.r2_buckets.filter(isFirst).find((each) => each.jurisdiction)?.jurisdiction;
  const jurisdiction = request.jurisdiction ?? ofBuckets;
  // `shards:add` creates the other databases, which need a range of ids from the first one.
  const databases = state.databases.filter(({ binding, found }) => found || binding === "DB");
  const missing = RANDOM_SECRETS.filter((name) => !state.secrets.includes(name));
  const file = secretsFile(request);
  const steps = [
    ...edits,
    ...databases.flatMap((each) => databaseSteps(request, each, jurisdiction)),
    ...state.buckets.flatMap((bucket) => bucketSteps(request, bucket, locationOf(request, bucket))),
    ...queueSteps(request, state, jurisdiction),
  ];
  if (missing.length > 0) {
    const says = `Write random secrets to ${file}, and set them: ${missing.join(", ")}`;
    // The secrets are passed as input, because other programs can see arguments.
    const input = async () => JSON.stringify(await makeSecrets(file, missing));
    steps.push(wranglerStep(request, says, ["secret", "bulk"], input));
  }
  const usesFile = missing.length > 0 || existsSync(file);
  return { steps, configuration, secrets: state.secrets, usesFile };
}

function planConfiguration({ config, env, location, jurisdiction, region }: SetupRequest) {
  const steps: Step[] = [];
  let edited = readFileSync(config, "utf8");
  const edit = (says: string, changed: string) => {
    edited = changed;
    steps.push({ says: `${says} ${config}`, run: () => writeFileSync(config, changed) });
  };
  if (env !== undefined && !configurationOfText(edited, undefined).definedEnvironments.includes(env))
    edit(`Add the environment ${env} to`, withEnvironment(edited, env));
  const configuration = configurationOfText(edited, env);
  const firstBuckets = configuration.r2_buckets.filter(isFirst);
  const other = firstBuckets.find((each) => each.jurisdiction && each.jurisdiction !== jurisdiction);
  if (jurisdiction && other)
    throw new Error(`${config} places the bucket ${other.bucket_name} in ${other.jurisdiction}.`);
  if (jurisdiction && jurisdiction !== "us" && firstBuckets.some((each) => !each.jurisdiction))
    edit(
      `Set the jurisdiction ${jurisdiction} of the buckets in`,
      withJurisdiction(edited, env, jurisdiction),
    );
  if (location && !configuration.placement)
    edit(`Place the Worker near ${location} in`, withPlacement(edited, env, location));
  const named = regionsOf(configuration)?.get(0);
  if (region && named && named !== region)
    throw new Error(`${config} names the region of the first database ${named}, which cannot be changed.`);
  if (region && !named) {
    const nameAll = (each: string, shard: number) => withRegion(each, env, { shard, region });
    edit(`Name the region of the database ${region} in`, shardsIn(configuration).reduce(nameAll, edited));
  }
  return { steps, configuration: configurationOfText(edited, env) };
}

/** Creates a database that is missing, and turns on its read replication. */
export function databaseSteps(
  { location, ...request }: SetupRequest,
  { name, found }: AccountState["databases"][number],
  jurisdiction = request.jurisdiction,
): Step[] {
  if (found && request.jurisdiction && found.jurisdiction !== request.jurisdiction)
    throw new Error(
      `The database ${name} exists outside the jurisdiction ${request.jurisdiction}, and cannot be moved. ` +
        "Choose another database_name, or delete it if it is empty.",
    );
  const account = { config: request.config };
  const turnOn: Step = {
    says: `Turn on read replication of the database ${name}`,
    run: () => (found ? turnReplicationOn(account, found) : replicateDatabase(account, name)),
  };
  if (found) return isReplicated(found) ? [] : [turnOn];
  const place = jurisdiction ? { jurisdiction } : { location };
  const create = ["d1", "create", name, "--update-config=false", ...flagsOf(place)];
  return [
    wranglerStep(request, `Create the database ${name}${placeText(jurisdiction, location)}`, create),
    turnOn,
  ];
}

const placeText = (jurisdiction: string | undefined, location: string | undefined) =>
  jurisdiction ? ` in the jurisdiction ${jurisdiction}` : location ? ` in ${location}` : "";

/** R2 has no jurisdiction in the United States, only places there. */
const locationOf = ({ jurisdiction, location }: SetupRequest, bucket: Bucket): string | undefined =>
  jurisdiction === "us" && isFirst(bucket) ? (location ?? IN_THE_US) : undefined;

export const IN_THE_US = "enam";

export function bucketSteps(
  request: Account,
  { binding, name, jurisdiction, exists, isLocked }: Bucket,
  location: string | undefined,
): Step[] {
  const make = wranglerStep(request, `Create the bucket ${name}${placeText(jurisdiction, location)}`, [
    ...["r2", "bucket", "create", name, "--update-config=false"],
    ...flagsOf({ jurisdiction, location }),
  ]);
  const lock = wranglerStep(
    request,
    `Lock the files of the bucket ${name} for ${LOCKED_DAYS} days (six years). THIS CANNOT BE TAKEN BACK: until then, nobody can delete them`,
    [
      ...["r2", "bucket", "lock", "add", name, LOCK, "", "--force"],
      ...flagsOf({ "retention-days": String(LOCKED_DAYS), jurisdiction }),
    ],
  );
  return [...(exists ? [] : [make]), ...(binding.startsWith("AUDIT_LOGS") && !isLocked ? [lock] : [])];
}

function queueSteps(request: SetupRequest, { queues }: AccountState, jurisdiction: string | undefined) {
  const missing = queues.filter(({ exists }) => !exists).map(({ name }) => name);
  const create = (name: string) => ["queues", "create", name, ...flagsOf({ jurisdiction })];
  return missing.map((name) => wranglerStep(request, `Create the queue ${name}`, create(name)));
}

const wranglerStep = (
  { config, env }: Account,
  says: string,
  command: string[],
  input?: () => Promise<string>,
): Step => ({
  says,
  run: async () => runWrangler([...command, ...configFlags({ config, env })], { input: await input?.() }),
});

import {
  type Account,
  askCloudflare,
  type DatabaseAtCloudflare,
  databaseAtCloudflare,
  findAtCloudflare,
} from "./cloudflare_api.ts";
import type { WranglerConfiguration } from "./wrangler_config.ts";

export interface Bucket {
  binding: string;
  name: string;
  jurisdiction?: string;
  exists: boolean;
  /** Whether a lock protects its objects from deletion and replacement for some time. */
  isLocked: boolean;
}

export interface AccountState {
  databases: { binding: string; name: string; found?: DatabaseAtCloudflare }[];
  buckets: Bucket[];
  queues: { name: string; exists: boolean }[];
  secrets: string[];
}

export async function readAccountState(
  account: Account,
  configuration: WranglerConfiguration,
  env = account.env,
): Promise<AccountState> {
  const [databases, buckets, queues, secrets] = await Promise.all([
    readDatabases(account, configuration),
    Promise.all(configuration.r2_buckets.map((bound) => stateOfBucket(account, bound))),
    Promise.all(queuesIn(configuration).map((name) => stateOfQueue(account, name))),
    readSecretNames(account, configuration, env),
  ]);
  return { databases, buckets, queues, secrets };
}

export const emptyAccount = (configuration: WranglerConfiguration): AccountState => ({
  databases: configuration.d1_databases.map(({ binding, database_name: name = "" }) => ({ binding, name })),
  buckets: configuration.r2_buckets.map(({ binding, bucket_name: name, jurisdiction }) => ({
    ...{ binding, name, jurisdiction },
    ...{ exists: false, isLocked: false },
  })),
  queues: queuesIn(configuration).map((name) => ({ name, exists: false })),
  secrets: [],
});

export const readDatabases = (account: Account, { d1_databases }: WranglerConfiguration) =>
  Promise.all(d1_databases.map((bound) => stateOfDatabase(account, bound)));

/** wrangler appends the environment's name to the Worker's. */
const workerName = ({ name = "worker" }: WranglerConfiguration, env: string | undefined) =>
  env !== undefined && !name.endsWith(`-${env}`) ? `${name}-${env}` : name;

export async function stateOfDatabase(
  account: Account,
  { binding, database_name = "", database_id }: WranglerConfiguration["d1_databases"][number],
) {
  const id = database_id ?? (await databaseAtCloudflare(account, database_name))?.uuid;
  const path = `/d1/database/${id}`;
  const found = id === undefined ? undefined : await findAtCloudflare<DatabaseAtCloudflare>(account, path);
  return { binding, name: database_name, found };
}

export async function stateOfBucket(
  account: Account,
  { binding, bucket_name: name, jurisdiction }: WranglerConfiguration["r2_buckets"][number],
): Promise<Bucket> {
  const headers = { ...(jurisdiction && { "cf-r2-jurisdiction": jurisdiction }) };
  const path = `/r2/buckets/${name}`;
  const exists = (await findAtCloudflare(account, path, { headers })) !== undefined;
  const lock = exists ? await askCloudflare<{ rules?: [] }>(account, `${path}/lock`, { headers }) : {};
  return { binding, name, jurisdiction, exists, isLocked: !!lock.rules?.length };
}

export const queuesIn = ({ queues }: WranglerConfiguration): string[] =>
  queues.producers.map(({ queue }) => queue);

async function stateOfQueue(account: Account, name: string) {
  const path = `/queues?name=${encodeURIComponent(name)}`;
  const found: { queue_name: string }[] = await askCloudflare(account, path);
  return { name, exists: found.some(({ queue_name }) => queue_name === name) };
}

export async function readSecretNames(
  account: Account,
  configuration: WranglerConfiguration,
  env = account.env,
): Promise<string[]> {
  const path = `/workers/scripts/${workerName(configuration, env)}/secrets`;
  const found = await findAtCloudflare<{ name: string }[]>(account, path);
  return (found ?? []).map(({ name }) => name);
}

export const isReplicated = (found: DatabaseAtCloudflare): boolean => found.read_replication?.mode === "auto";

export async function replicateDatabase(account: Account, name: string): Promise<void> {
  const found = await databaseAtCloudflare(account, name);
  if (found) await turnReplicationOn(account, found);
}

/** Turns on read replication, which is off in a new database. Without it there are no replicas, and bookmarks have no effect. */
export async function turnReplicationOn(account: Account, { uuid }: DatabaseAtCloudflare): Promise<void> {
  await askCloudflare(account, `/d1/database/${uuid}`, {
    method: "PUT",
    body: { read_replication: { mode: "auto" } },
  });
}

export const unreplicatedIn = ({ databases }: AccountState): string[] =>
  databases
    .filter(({ found }) => found && !isReplicated(found))
    .map(({ name, binding }) => `Read replication of the database ${name} (${binding}) is off`);

export const missingIn = (
  { databases, buckets, queues, secrets }: AccountState,
  needed: string[],
): string[] => [
  ...databases.filter(({ found }) => !found).map(({ name, binding }) => `The database ${name} (${binding})`),
  ...buckets.filter(({ exists }) => !exists).map(({ name, binding }) => `The bucket ${name} (${binding})`),
  ...queues.filter(({ exists }) => !exists).map(({ name }) => `The queue ${name}`),
  ...needed.filter((name) => !secrets.includes(name)).map((name) => `The secret ${name}`),
];

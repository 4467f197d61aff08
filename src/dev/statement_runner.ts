/**
 * Runs statements in the databases of a target: those on this machine, or those at Cloudflare. Within this process, and many a
 * second: to start wrangler for each takes seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { envOfShard } from "../database/shards.ts";
import { openLocalBindings } from "./local_bindings.ts";
import { configFlags, runWrangler, type Target } from "./wrangler.ts";
import { databaseId, databaseName, readConfiguration } from "./wrangler_config.ts";

/** SQL, with its parameters where it has some. */
export type Statement = string | { sql: string; params: (string | number | null)[] };

export type Rows = Record<string, string | number | null>[];

/** What D1 says of a statement. */
export interface Executed {
  results: Rows;
  /** The size of the database, in bytes. */
  meta: { size_after: number };
}

type Execute = (shard: number, statements: Statement[]) => Promise<Executed[]>;

/** Runs statements as one transaction of a database, and returns the rows of each. */
export type Run = (shard: number, statements: Statement[]) => Promise<Rows[]>;

/** Those of each configuration, from when they are first asked something to the end of the command. */
const opened = new Map<string, Promise<{ execute: Execute; dispose?: () => Promise<void> }>>();

/**
 * Runs statements as one transaction.
 *
 * @throws Error with what D1 says, which names tables and columns, and nothing of the rows
 */
export async function executeStatements(target: Target, statements: Statement[]): Promise<Executed[]> {
  const { shard = 0, ...databases } = target;
  const key = JSON.stringify(databases);
  const opening = opened.get(key) ?? (target.remote ? atCloudflare(target) : onThisMachine(target));
  opened.set(key, opening);
  const { execute } = await opening;
  return execute(shard, statements);
}

/** The same, and returns the rows of each statement. */
export const queryDatabase = async (target: Target, statements: Statement[]): Promise<Rows[]> =>
  rowsOf(await executeStatements(target, statements));

export const runAt =
  (target: Target): Run =>
  (shard, statements) =>
    queryDatabase({ ...target, shard }, statements);

const rowsOf = (executed: Executed[]): Rows[] => executed.map(({ results }) => results);

/** Runs a command, and lets go of the databases that it has asked: before, the process does not end. */
export async function closingDatabases<Result>(run: () => Result): Promise<Awaited<Result>> {
  try {
    return await run();
  } finally {
    for (const opening of opened.values()) await opening.then(({ dispose }) => dispose?.()).catch(() => {});
  }
}

async function onThisMachine({ config, env: environment, "persist-to": persistTo }: Target) {
  const { env, dispose } = await openLocalBindings({
    persistTo: persistTo ?? ".wrangler/state",
    config,
    environment,
  });
  return { execute: executeWith(env), dispose };
}

/** How often a local database is tried that another process has locked: a server that runs beside this. */
const TRIES = 200;

/** Runs statements over bindings of the Worker. */
export function runWith(env: Env): Run {
  const execute = executeWith(env);
  return async (shard, statements) => rowsOf(await execute(shard, statements));
}

const executeWith =
  (env: Env): Execute =>
  async (shard, statements) => {
    const { DB } = envOfShard(env, shard);
    // Each call goes to another process.
    const bound = statements.map((each) =>
      typeof each === "string" ? DB.prepare(each) : DB.prepare(each.sql).bind(...each.params),
    );
    for (let tries = 1; ; tries++)
      try {
        return await DB.batch<Rows[number]>(bound);
      } catch (error) {
        if (tries === TRIES || !/database is locked/.test((error as Error).message)) throw error;
        await sleep(10);
      }
  };

/** Over D1's REST API. */
async function atCloudflare(target: Target): Promise<{ execute: Execute }> {
  const api = await d1Api(target);
  const ids = new Map<number, string>();
  async function idOf(shard: number): Promise<string> {
    const name = databaseName(target, shard);
    const id = ids.get(shard) ?? databaseId(target, shard) ?? (await idAtCloudflare(api, name));
    if (id === undefined) throw new Error(`The account has no database ${name}.`);
    ids.set(shard, id);
    return id;
  }
  const execute: Execute = async (shard, statements) =>
    api(`/${await idOf(shard)}/query`, {
      batch: statements.map((each) => (typeof each === "string" ? { sql: each } : each)),
    });
  return { execute };
}

/** Whether the account has a database of this name. */
export const existsAtCloudflare = async (target: Target, name: string): Promise<boolean> =>
  (await idAtCloudflare(await d1Api(target), name)) !== undefined;

type D1Api = Awaited<ReturnType<typeof d1Api>>;

async function idAtCloudflare(api: D1Api, name: string): Promise<string | undefined> {
  const found: { uuid: string; name: string }[] = await api(`?name=${encodeURIComponent(name)}`);
  return found.find((each) => each.name === name)?.uuid;
}

/**
 * A way to ask D1's REST API, with wrangler's own account and token. An error of it is shown, and nothing of the rows. With a body,
 * it is a POST.
 */
async function d1Api(target: Target) {
  const ask = async (command: string[]) =>
    JSON.parse(await runWrangler([...command, "--json", ...configFlags(target)]));
  const token = process.env.CLOUDFLARE_API_TOKEN || (await ask(["auth", "token"])).token;
  if (!token) throw new Error("Set CLOUDFLARE_API_TOKEN, or run `npx wrangler login`.");
  const named = readConfiguration(target).account_id ?? process.env.CLOUDFLARE_ACCOUNT_ID;
  const account = named ?? (await ask(["whoami"])).accounts?.[0]?.id;
  const base = process.env.CLOUDFLARE_API_BASE_URL ?? "https://api.cloudflare.com/client/v4";
  return async <Result>(path: string, body?: object): Promise<Result> => {
    const response = await fetch(`${base}/accounts/${account}/d1/database${path}`, {
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    const { success, errors, result }: Answer<Result> = await response.json();
    if (!success) throw new Error(`D1 refused it: ${errors.map(({ message }) => message).join("; ")}`);
    return result;
  };
}

interface Answer<Result> {
  success: boolean;
  errors: { message: string }[];
  result: Result;
}

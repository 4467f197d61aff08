/**
 * Runs statements in the databases of a target: those on this machine, or those at Cloudflare. Each is asked from this process,
 * because a start of wrangler takes seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { envOfShard } from "../database/shards.ts";
import { askD1, idAtCloudflare } from "./d1_api.ts";
import { openLocalDatabases } from "./local_bindings.ts";
import { LOCAL_STATE, type Target } from "./wrangler.ts";
import { databaseId, databaseName } from "./wrangler_config.ts";

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

interface Databases {
  execute: Execute;
  dispose?: () => Promise<void>;
}

/** The statements of a text of SQL. */
export async function statementsOf(text: string): Promise<string[]> {
  const { unstable_splitSqlQuery } = await import("wrangler");
  return unstable_splitSqlQuery(text);
}

/** The databases of each configuration, from the first question to the end of the command. */
const opened = new Map<string, Databases | Promise<Databases>>();

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
    // Whoever asked has heard of one that could not be opened.
    for (const each of await Promise.allSettled(opened.values()))
      if (each.status === "fulfilled") await each.value.dispose?.();
  }
}

async function onThisMachine({
  config,
  env: environment,
  "persist-to": persistTo,
}: Target): Promise<Databases> {
  const { env, dispose } = await openLocalDatabases({
    persistTo: persistTo ?? LOCAL_STATE,
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
function atCloudflare(target: Target): Databases {
  const ids = new Map<number, string>();
  async function idOf(shard: number): Promise<string> {
    const known = ids.get(shard);
    if (known !== undefined) return known;
    const name = databaseName(target, shard);
    const id = databaseId(target, shard) ?? (await idAtCloudflare(target, name));
    if (id === undefined) throw new Error(`The account has no database ${name}.`);
    ids.set(shard, id);
    return id;
  }
  const execute: Execute = async (shard, statements) =>
    askD1(target, `/${await idOf(shard)}/query`, {
      batch: statements.map((each) => (typeof each === "string" ? { sql: each } : each)),
    });
  return { execute };
}

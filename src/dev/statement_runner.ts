/** Runs statements on this machine or at Cloudflare, within this process: a start of wrangler takes seconds. */
import { setTimeout as sleep } from "node:timers/promises";
import { envOfShard } from "../database/shards.ts";
import { askCloudflare, databaseAtCloudflare } from "./cloudflare_api.ts";
import { openLocalDatabases } from "./local_bindings.ts";
import { LOCAL_STATE, type Target } from "./wrangler.ts";
import { databaseIn } from "./wrangler_config.ts";

export type Statement = string | { sql: string; params: (string | number | null)[] };

export type Rows = Record<string, string | number | null>[];

export type Run = (shard: number, statements: Statement[]) => Promise<Rows[]>;

interface Executed {
  results: Rows;
  meta: { size_after: number };
}

interface Databases {
  execute: (shard: number, statements: Statement[]) => Promise<Executed[]>;
  dispose?: () => Promise<void>;
}

export async function statementsOf(text: string): Promise<string[]> {
  const { unstable_splitSqlQuery } = await import("wrangler");
  return unstable_splitSqlQuery(text);
}

/** The databases of each target, open from their first use to the end of the command. */
const opened = new Map<string, Databases | Promise<Databases>>();

/** Runs one transaction. Its errors have D1's message, which names tables and columns but no data of rows. */
export const queryDatabase = async (target: Target, statements: Statement[]): Promise<Rows[]> =>
  rowsOf(await executeIn(target, statements));

/** Like `queryDatabase`, with the size of the database beside each statement's rows. */
export async function executeIn(target: Target, statements: Statement[]): Promise<Executed[]> {
  const { shard = 0, ...databases } = target;
  const key = JSON.stringify(databases);
  const opening = opened.get(key) ?? (target.remote ? atCloudflare(target) : onThisMachine(target));
  opened.set(key, opening);
  const { execute } = await opening;
  return execute(shard, statements);
}

export const runAt =
  (target: Target): Run =>
  (shard, statements) =>
    queryDatabase({ ...target, shard }, statements);

const rowsOf = (executed: Executed[]): Rows[] => executed.map(({ results }) => results);

/** Runs a command, then closes the databases that it used. The process does not end before. */
export async function closingDatabases<Result>(run: () => Result): Promise<Awaited<Result>> {
  try {
    return await run();
  } finally {
    // A database that could not be opened was already reported to its caller.
    for (const each of await Promise.allSettled(opened.values()))
      if (each.status === "fulfilled") await each.value.dispose?.();
  }
}

async function onThisMachine({ config, env: environment, ...target }: Target): Promise<Databases> {
  const { "persist-to": persistTo = LOCAL_STATE } = target;
  const { env, dispose } = await openLocalDatabases({ persistTo, config, environment });
  return { execute: executeWith(env), dispose };
}

/** The number of attempts if another process, such as a running server, has locked a local database. */
const TRIES = 200;

export const runWith = (env: Env): Run => {
  const execute = executeWith(env);
  return async (shard, statements) => rowsOf(await execute(shard, statements));
};

const executeWith =
  (env: Env): Databases["execute"] =>
  async (shard, statements) => {
    const { DB } = envOfShard(env, shard);
    // Every call to a database goes to another process, so use a single batch.
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

function atCloudflare(target: Target): Databases {
  const ids = new Map<number, string>();
  return {
    async execute(shard, statements) {
      const id = ids.get(shard) ?? (await requireId(target, shard));
      ids.set(shard, id);
      const batch = statements.map((each) => (typeof each === "string" ? { sql: each } : each));
      return askCloudflare(target, `/d1/database/${id}/query`, { body: { batch } });
    },
  };
}

async function requireId(target: Target, shard: number): Promise<string> {
  const { database_name, database_id } = databaseIn(target, shard);
  const id = database_id ?? (await databaseAtCloudflare(target, database_name))?.uuid;
  if (id === undefined) throw new Error(`The account has no database ${database_name}.`);
  return id;
}

/**
 * Runs statements with parameters in a database, many a second: to start wrangler for each, as other commands do, takes longer
 * than an organization may be kept waiting.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { envOfShard } from "../database/shards.ts";
import { withLocalBindings } from "./local_database.ts";
import { configFlags, type Rows, runWrangler, type Target } from "./wrangler.ts";
import { databaseName, readConfiguration } from "./wrangler_config.ts";

/** SQL, with its parameters where it has some. */
export type Statement = string | { sql: string; params: (string | number | null)[] };

/** Runs statements as one transaction of a database, and returns the rows of each. */
export type Run = (shard: number, statements: Statement[]) => Promise<Rows[]>;

/** Calls a function with the databases of a target: those on this machine, or those at Cloudflare. */
export async function withDatabases(target: Target, work: (run: Run) => Promise<void>) {
  if (target.remote) return work(runAtCloudflare(target));
  const { config, env: environment, "persist-to": persistTo = ".wrangler/state" } = target;
  await withLocalBindings({ persistTo, config, environment }, (env) => work(runWith(env)));
}

/** How often a local database is tried that another process has locked: a server that runs beside this. */
const TRIES = 200;

export const runWith =
  (env: Env): Run =>
  async (shard, statements) => {
    const { DB } = envOfShard(env, shard);
    // Each call goes to another process.
    const bound = statements.map((each) =>
      typeof each === "string" ? DB.prepare(each) : DB.prepare(each.sql).bind(...each.params),
    );
    for (let tries = 1; ; tries++)
      try {
        return (await DB.batch<Rows[number]>(bound)).map(({ results }) => results);
      } catch (error) {
        if (tries === TRIES || !/database is locked/.test((error as Error).message)) throw error;
        await sleep(10);
      }
  };

interface Answer {
  success: boolean;
  errors: { message: string }[];
  result: { results: Rows }[];
}

/** Over D1's REST API, with wrangler's own account and token. An error of it is shown, and nothing of the rows. */
function runAtCloudflare(target: Target): Run {
  const ask = (command: string[]) => JSON.parse(runWrangler([...command, "--json", ...configFlags(target)]));
  const { token } = ask(["auth", "token"]);
  if (!token) throw new Error("Set CLOUDFLARE_API_TOKEN, or run `npx wrangler login`.");
  const named = readConfiguration(target).account_id ?? process.env.CLOUDFLARE_ACCOUNT_ID;
  const account = named ?? ask(["whoami"]).accounts?.[0]?.id;
  const base = process.env.CLOUDFLARE_API_BASE_URL ?? "https://api.cloudflare.com/client/v4";
  const ids = new Map<number, string>();
  const idOf = (shard: number): string => {
    const id = ids.get(shard) ?? ask(["d1", "info", databaseName(target, shard)]).uuid;
    ids.set(shard, id);
    return id;
  };
  return async (shard, statements) => {
    const batch = statements.map((each) => (typeof each === "string" ? { sql: each } : each));
    const response = await fetch(`${base}/accounts/${account}/d1/database/${idOf(shard)}/query`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ batch }),
    });
    const { success, errors, result }: Answer = await response.json();
    if (!success) throw new Error(`D1 refused a batch: ${errors.map(({ message }) => message).join("; ")}`);
    return result.map(({ results }) => results);
  };
}

/** The running version, and the migrations that a database lacks: for `npm run deploy` and `npm run status`. */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../units.ts";
import { say } from "./command.ts";
import type { Database } from "./databases.ts";
import { digestLine, digestsOf, migrationFiles } from "./migrations.ts";
import { queryDatabase } from "./statement_runner.ts";
import { bindingOf, sameConfig, type Target } from "./wrangler.ts";
import { databaseName, readConfiguration } from "./wrangler_config.ts";

/** Long enough for the new version to reach the location that answers. */
const HEALTH_WITHIN = 30 * SECOND;

const ASK_AGAIN_AFTER = 2 * SECOND;

const ANSWERED_WITHIN = 10 * SECOND;

export const nameOf = (database: Database): string =>
  `${databaseName(database, database.shard)} (${bindingOf(database.shard)})`;

/** The checked-out commit, with `-dirty` if files have changed since. Undefined outside of a repository. */
export function currentCommit(): string | undefined {
  const git = (...args: string[]) => {
    const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const commit = git("rev-parse", "--short=12", "HEAD");
  return commit && git("status", "--porcelain") ? `${commit}-dirty` : commit;
}

/** The migrations that a database has run, in order. */
export async function ranMigrations(database: Database): Promise<string[]> {
  const isKept = "SELECT name FROM sqlite_schema WHERE name = 'd1_migrations'";
  const [[table] = []] = await queryDatabase(database, [isKept]);
  if (!table) return [];
  const [rows = []] = await queryDatabase(database, ["SELECT name FROM d1_migrations ORDER BY id"]);
  return rows.map(({ name }) => String(name));
}

/** The migrations that a database has yet to run, after those that it ran. */
export const pendingAfter = (ran: string[]): string[] =>
  migrationFiles().filter((file) => !ran.includes(file));

/** @throws Error if a migration is no longer the one that the database has run */
export function requireMigrationsThatRan(database: Database, ran: string[]) {
  const files = migrationFiles();
  const [unknown] = ran.filter((file) => !files.includes(file));
  // Without pending migrations, this is an older version of the service, which works on the newer database.
  if (unknown && pendingAfter(ran).length > 0)
    throw new Error(
      `${nameOf(database)} has run the migration ${unknown}, which drizzle/ lacks. Deploy a version that has it: a migration is never changed or removed once it has run.`,
    );
  if (database.remote) requireUnchanged(ran.filter((file) => files.includes(file)));
}

function requireUnchanged(ran: string[]) {
  const recorded = digestsOf();
  for (const file of ran) {
    const digest = recorded.find((line) => line.endsWith(`  ${file}`));
    if (digest === undefined)
      throw new Error(
        `drizzle/SHA256SUMS does not have ${file}, which has run. Check out the committed file. If it is lost and the migration has not changed, write this line into it:\n${digestLine(file)}`,
      );
    if (digest !== digestLine(file))
      throw new Error(
        `${file} was changed after it had run. Restore it (\`git log -p -- drizzle/${file}\`), and make the change as a new migration, with \`npm run db:generate\`.`,
      );
  }
}

export interface Health {
  status: string;
  version: string | null;
  message?: string;
}

export const publicUrl = (target: Target): string => String(readConfiguration(target).vars.PUBLIC_URL ?? "");

/** @throws Error if the service is not ready, or cannot be reached */
export async function readHealth(url: string): Promise<Health> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ANSWERED_WITHIN) }).catch(
    ({ cause, message }: Error) => {
      throw new Error(`${url} cannot be reached: ${cause instanceof Error ? cause.message : message}`);
    },
  );
  const answer = (await response.json().catch(() => ({}))) as Partial<Health> & { error?: string };
  if (!response.ok || !answer.status)
    throw new Error(`${url}/health answered ${response.status}${answer.error ? `: ${answer.error}` : ""}`);
  return { version: null, ...answer, status: answer.status };
}

/** @throws Error unless the service becomes healthy with this version */
export async function requireHealthy(target: Target, version: string | undefined) {
  const url = publicUrl(target);
  if (!url)
    return say(
      `\nPUBLIC_URL is not set in ${target.config}: set it to the address above, deploy again, and ask /health there.`,
    );
  const deadline = Date.now() + HEALTH_WITHIN;
  for (;;)
    try {
      const health = await readHealth(url);
      if (version && health.version !== version)
        throw new Error(`${url}/health answers with the version ${health.version} instead of ${version}`);
      return say(
        `\n${url} runs ${health.version ?? "the new version"}, and is ${health.status}. ${health.message ?? ""}`.trimEnd(),
      );
    } catch (error) {
      if (Date.now() > deadline)
        throw new Error(
          `The Worker was uploaded, but is not well: ${(error as Error).message}.\nsrc/docs/incidents.md says what to do. To run the previous version again: npx wrangler rollback${sameConfig(target)}`,
        );
      await sleep(ASK_AGAIN_AFTER);
    }
}

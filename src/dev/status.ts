/** `npm run status`: shows what runs in production, and marks what needs the operator's attention. Changes nothing. */
import { BACKUP_LATE_AFTER } from "../tuning.ts";
import { DAY, HOUR, MINUTE } from "../units.ts";
import { say } from "./command.ts";
import { runDatabaseCommand } from "./database_command.ts";
import { boundDatabases, type Database } from "./databases.ts";
import { nameOf, pendingAfter, publicUrl, ranMigrations, readHealth } from "./deployment.ts";
import { executeIn } from "./statement_runner.ts";
import { sameTarget, type Target } from "./wrangler.ts";

const USAGE = `
Usage: npm run status -- [--env NAME]

Shows the running version and its health, and the state of each database in production. A line that begins with ! needs
attention. Changes nothing.

`;

/** D1's limit for a database, in bytes. */
const MAX_SIZE = 10_000_000_000;

/** From this size on, src/docs/monitoring.md has something to do. */
const LARGE = 0.7 * MAX_SIZE;

const CRON_LATE_AFTER = 15 * MINUTE;

const settingOf = (name: string) => `(SELECT value FROM database_settings WHERE name = '${name}') AS ${name}`;

const STATE = `SELECT ${["quiet", "cron", "backup"].map(settingOf).join(", ")},
  (SELECT group_concat(organization_id, ', ') FROM moves WHERE shard IS NULL) AS marked,
  (SELECT date FROM access_log_seals ORDER BY id DESC LIMIT 1) AS sealed`;

await runDatabaseCommand(
  USAGE,
  {},
  async (target) => {
    if (target.remote) await sayWhatRuns(target);
    for (const database of await boundDatabases(target)) await sayState(database);
  },
  "remote",
);

async function sayWhatRuns(target: Target) {
  const url = publicUrl(target);
  if (!url) return say(`! The running version is unknown: PUBLIC_URL is not set in ${target.config}.`);
  try {
    const { version, status, message = "" } = await readHealth(url);
    say(
      `${markOf(status === "ok")}${url} runs ${version ?? "an unknown version"}, and is ${status}. ${message}`.trimEnd(),
    );
  } catch (error) {
    say(`! ${(error as Error).message}`);
  }
}

function markOf(isWell: boolean) {
  return isWell ? "  " : "! ";
}

async function sayState(database: Database) {
  say(`\n${nameOf(database)}`);
  const line = (name: string, isWell: boolean, text: string) =>
    say(`${markOf(isWell)}${name.padEnd(12)} ${text}`);
  const pending = pendingAfter(await ranMigrations(database)).join(", ");
  line("migrations", !pending, pending ? `pending: ${pending}` : "all have run");
  const [state] = await executeIn(database, [STATE]).catch((error: Error) => {
    if (error.message.includes("no such table")) return [];
    throw error;
  });
  if (!state) return;
  const { quiet, cron, backup, marked, sealed } = state.results[0] ?? {};
  const { size_after } = state.meta;
  const percent = ((100 * size_after) / MAX_SIZE).toFixed(1);
  line("size", size_after < LARGE, `${(size_after / 1e6).toFixed(1)} MB, ${percent} % of 10 GB`);
  line("cron", isLately(cron, CRON_LATE_AFTER), `last run ${ageOf(cron)}`);
  const resume = `run npm run restore${sameTarget(database) || " --"} --resume when you are ready`;
  line("quiet", !quiet, quiet ? `since a restore ${ageOf(quiet)}: ${resume}` : "no");
  const frozen = marked && `the organizations ${marked}, which are moving or being deleted`;
  line("frozen", !marked, String(frozen ?? "no organization"));
  line("last seal", true, sealed ? `for ${sealed}` : "none");
  line("last backup", isLately(backup, BACKUP_LATE_AFTER), ageOf(backup));
}

type Time = string | number | null | undefined;

function isLately(time: Time, within: number) {
  return typeof time === "number" && Date.now() - time < within;
}

function ageOf(time: Time): string {
  if (typeof time !== "number") return "never";
  const age = Date.now() - time;
  if (age < 2 * HOUR) return `${Math.round(age / MINUTE)} minutes ago`;
  return age < 2 * DAY ? `${Math.round(age / HOUR)} hours ago` : `${Math.round(age / DAY)} days ago`;
}

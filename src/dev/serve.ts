/**
 * `npm run dev`: migrates the local database, loads the demo organization, and starts the server. --persist-to, --config and
 * --env apply to all three steps, so that the server finds the data.
 * With --shards N, the server has N databases (see src/database/shards.ts), even if the configuration binds fewer. With --regions,
 * they lie in these regions (see src/docs/regions.md).
 */

import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { suffixOfRegion } from "../database/shards.ts";
import { isLoopback } from "../http/loopback.ts";
import { DEVELOPMENT_ASSETS } from "../reference/assets.ts";
import { DEMO_CLIENT } from "../reference/demo_client.ts";
import { readSettings, type Settings, SettingsError } from "../settings.ts";
import { runCommand, UsageError, type Values } from "./command.ts";
import { loadDemoOrganization } from "./demo_organization.ts";
import { withLocalBindings } from "./local_bindings.ts";
import { migrateDatabases } from "./local_database.ts";
import { requireRegionName, withRegion, withVariable } from "./region_configuration.ts";
import { flagsOf, LOCAL_STATE, startWrangler } from "./wrangler.ts";
import { configurationOf, readConfiguration, requireEnvironment } from "./wrangler_config.ts";

const usage = `
Usage: npm run dev -- [--port N]

Migrates the local database, loads the demo organization if it is missing, and starts the server.

  --port N              the port of the server; 8787 by default
  --persist-to DIR      the folder for the local data; .wrangler/state by default
  --shards N            uses N databases, even if wrangler.toml binds fewer
  --regions us,eu       with --shards: the region of each database
  --config FILE, --env NAME
                        uses another configuration file, or an environment in it
  --ip, --inspector-port, --local-upstream, --local-protocol, --log-level
                        as for wrangler dev
`;

const options = {
  "persist-to": { type: "string", default: LOCAL_STATE },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
  shards: { type: "string" },
  regions: { type: "string" },
  port: { type: "string" },
  ip: { type: "string" },
  "inspector-port": { type: "string" },
  "local-upstream": { type: "string" },
  "local-protocol": { type: "string" },
  "log-level": { type: "string" },
} as const;

/** In milliseconds: more often than in production, where it is five minutes, so that a developer need not wait. */
const CRON_INTERVAL = 30_000;

/** As in .dev.vars.example and wrangler.toml. */
const LOCAL_STORAGE = {
  ENDPOINT: "/cdn-cgi/local/r2/s3",
  ACCESS_KEY_ID: "local-access-key",
  SECRET_ACCESS_KEY: "local-secret-key",
};

/** In milliseconds. */
const PARENT_CHECKED_EVERY = 500;

await runCommand(usage, options, async ({ shards, regions, ...flags }) => {
  requireEnvironment(flags);
  if (!existsSync(".dev.vars")) copyFileSync(".dev.vars.example", ".dev.vars");
  const { env: environment, "persist-to": persistTo } = flags;
  const ofRegions = regions && `.wrangler-${regions.replaceAll(",", "-")}.toml`;
  const config =
    shards === undefined ? flags.config : configurationOf(requireCount(shards), flags, ofRegions);
  if (regions !== undefined) inRegions(config, environment, regions.split(","), Number(shards));
  const { isNew, settings } = await withLocalBindings({ persistTo, config, environment }, async (env) => {
    await migrateDatabases(env);
    const settings = requireSettings(env);
    return { settings, isNew: await loadDemoOrganization(env, Date.now()) };
  });
  await serve({ ...flags, config }, isNew, settings);
});

function requireCount(shards: string): number {
  if (/^([1-9]\d?|100)$/.test(shards)) return Number(shards);
  throw new UsageError(`--shards: ${shards} must be a number from 1 to 100`);
}

/** Writes the regions into a configuration for development. Their files are in wrangler's own S3, as those of the first region. */
function inRegions(config: string, env: string | undefined, regions: string[], shards: number) {
  for (const region of regions) requireRegionName(region);
  if (regions.length !== shards)
    throw new UsageError("--regions needs --shards, and a region for each database");
  let text = readFileSync(config, "utf8");
  for (const [shard, region] of regions.entries()) text = withRegion(text, env, { shard, region });
  for (const region of new Set(regions.filter((each) => each !== regions[0])))
    for (const [name, value] of Object.entries(LOCAL_STORAGE))
      text = withVariable(text, env, `RECORDINGS_S3_${name}${suffixOfRegion(region)}`, value);
  writeFileSync(config, text);
}

function requireSettings(env: Env): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Error(`${error.message}\nCorrect .dev.vars, or delete it: this command then creates it again.`);
  }
}

async function serve(
  flags: Omit<Values<typeof options>, "shards" | "regions">,
  isNew: boolean,
  settings: Settings,
) {
  const { routes } = readConfiguration(flags);
  // By default wrangler passes the first route's host to the service, which would then require HTTPS and production secrets.
  const upstream = routes?.length ? { "local-upstream": `localhost:${flags.port ?? 8787}` } : {};
  // The Worker is not minified, unlike in production, so that stacks name functions. The pages in these assets contain the development
  // credentials.
  const server = startWrangler(
    ["dev", "--no-minify", "--assets", DEVELOPMENT_ASSETS, ...flagsOf({ ...upstream, ...flags })],
    {
      stdio: ["inherit", "pipe", "inherit"],
      env: {
        FORCE_COLOR: process.stdout.isTTY ? "1" : "0",
        ...process.env,
        ...(flags.env && { CLOUDFLARE_ENV: flags.env }),
        // The pages as Markdown name this address: no script replaces it there, unlike in HTML.
        ...(Number(flags.port) > 0 && { DEVELOPMENT_URL: `http://localhost:${flags.port}` }),
      },
    },
  );
  // The terminal also sends its signals to wrangler. Pass on signals that only this process gets.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
  endWithNpm(() => server.kill("SIGTERM"));
  // The reader of the output has ended, as in `npm run dev | head`.
  process.stdout.on("error", () => server.kill("SIGTERM"));
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  let tables = 0;
  let cron: NodeJS.Timeout | undefined;
  const ended = once(server, "close");
  for await (const line of lines) {
    const plain = stripVTControlCharacters(line);
    // wrangler prints the table of bindings again at every restart of the Worker: show only the first.
    if (plain.startsWith("Your Worker has access to the following bindings")) tables++;
    // A local database has no backups, so each run of its cron logs that the backup is late.
    const isNoise =
      (tables > 1 && /^(Your Worker|Binding |env\.)/.test(plain)) || /^\{"event":"backup_late"/.test(plain);
    if (!isNoise) process.stdout.write(`${line}\n`);
    const [, url] = /Ready on (http\S+)/.exec(plain) ?? [];
    // This run seals a day of the new organization's access log.
    if (url && isNew) await runCron(url);
    if (!url) continue;
    const address = url.replace(/\/\/(127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\*):/, "//localhost:");
    if (!cron) await playWebApp(address, settings);
    // wrangler runs no cron by itself.
    cron ??= setInterval(() => runCron(url), CRON_INTERVAL).unref();
    introduce(address);
  }
  const [code] = await ended;
  process.exit(code ?? 1);
}

async function runCron(url: string) {
  await fetch(`${url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`).catch(() => {});
}

/** Serves a web app at APP_URL, so that links lead somewhere, unless the developer's own web app is there. */
async function playWebApp(address: string, settings: Settings) {
  const { APP_URL } = settings;
  const { protocol, hostname } = new URL(APP_URL);
  if (protocol !== "http:" || !isLoopback(hostname)) return;
  const { startWebApp } = await import("./web_app/server.ts");
  await startWebApp(APP_URL, { address, settings }).then(
    ({ url }) => process.stdout.write(`\nLinks of visits and invites lead to a web app at ${url}.\n`),
    ({ code }: NodeJS.ErrnoException) =>
      process.stdout.write(`\nNo web app is served at ${APP_URL}: ${code}.\n`),
  );
}

/** Ends the server when npm gets a SIGTERM: npm passes it only to a shell around this process, which dies of it. */
function endWithNpm(end: () => void) {
  const { ppid } = process;
  setInterval(() => {
    if (process.ppid !== ppid) end();
  }, PARENT_CHECKED_EVERY).unref();
}

function introduce(url: string) {
  process.stdout.write(`
Serving ${url} with the organization "${DEMO_CLIENT.organization}", whose API client is
  X-Client-ID:     ${DEMO_CLIENT.client_id}
  X-Client-Secret: ${DEMO_CLIENT.client_secret}

Read the reference there, or send a request:
  curl -K demo.curl ${url}/api/external/waiting_rooms

Or walk through the product, in another terminal:
  npm run demo -- ${url}

`);
}

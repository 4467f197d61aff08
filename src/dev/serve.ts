/**
 * `npm run dev`: migrates the local database, loads the demo organization, and starts the server. The first two steps use
 * --persist-to, --config and --env too, so that the server finds their data.
 * With --shards, the server has so many databases (see src/database/shards.ts), also if the configuration binds fewer.
 */

import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { DEVELOPMENT_ASSETS } from "../reference/assets.ts";
import { readSettings, SettingsError } from "../settings.ts";
import { runCommand, UsageError, type Values } from "./command.ts";
import { DEMO_CLIENT, loadDemoOrganization } from "./demo_organization.ts";
import { withLocalBindings } from "./local_bindings.ts";
import { migrateDatabases } from "./local_database.ts";
import { flagsOf, LOCAL_STATE, startWrangler } from "./wrangler.ts";
import { configurationOf, readConfiguration, requireEnvironment } from "./wrangler_config.ts";

const usage = `
Usage: npm run dev -- [--port N]

Migrates the local database, loads the demo organization into it if it is not there, and starts the server.

  --port N              where the server listens: 8787 if you say nothing
  --persist-to DIR      keeps the local data there, and not in .wrangler/state
  --shards N            has so many databases, also if wrangler.toml binds fewer
  --config FILE, --env NAME
                        another configuration, or environment of it
  --ip, --inspector-port, --local-upstream, --local-protocol, --log-level
                        as those of wrangler dev
`;

const options = {
  "persist-to": { type: "string", default: LOCAL_STATE },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
  shards: { type: "string" },
  port: { type: "string" },
  ip: { type: "string" },
  "inspector-port": { type: "string" },
  "local-upstream": { type: "string" },
  "local-protocol": { type: "string" },
  "log-level": { type: "string" },
} as const;

process.exitCode = await runCommand(usage, options, async ({ shards, ...flags }) => {
  requireEnvironment(flags);
  if (!existsSync(".dev.vars")) copyFileSync(".dev.vars.example", ".dev.vars");
  const { env: environment, "persist-to": persistTo } = flags;
  const config = shards === undefined ? flags.config : configurationOf(requireCount(shards), flags);
  let isNew = false;
  await withLocalBindings({ persistTo, config, environment }, async (env) => {
    await migrateDatabases(env);
    requireSettings(env);
    isNew = await loadDemoOrganization(env, Date.now());
  });
  await serve({ ...flags, config }, isNew);
});

function requireCount(shards: string): number {
  if (/^([1-9]\d?|100)$/.test(shards)) return Number(shards);
  throw new UsageError(`--shards: ${shards} must be a number from 1 to 100`);
}

function requireSettings(env: Env) {
  try {
    readSettings(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Error(`${error.message}\nCorrect .dev.vars. Or delete it: then this command makes it anew.`);
  }
}

/** Runs until the server ends. */
async function serve(flags: Omit<Values<typeof options>, "shards">, isNew: boolean) {
  const { routes } = readConfiguration(flags);
  // wrangler would call the service by the name of the first route: then it would want HTTPS, and secrets of its own.
  const upstream = routes?.length ? { "local-upstream": `localhost:${flags.port ?? 8787}` } : {};
  // Not minified as in wrangler.toml, so that stacks name functions. The pages of these assets have the credentials for
  // development filled in.
  const server = startWrangler(
    ["dev", "--no-minify", "--assets", DEVELOPMENT_ASSETS, ...flagsOf({ ...upstream, ...flags })],
    {
      stdio: ["inherit", "pipe", "inherit"],
      env: {
        FORCE_COLOR: process.stdout.isTTY ? "1" : "0",
        ...process.env,
        ...(flags.env && { CLOUDFLARE_ENV: flags.env }),
      },
    },
  );
  // The terminal sends its signals to wrangler too. This is for a signal that only this process gets.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
  // Whoever read the output has gone: `npm run dev | head`.
  process.stdout.on("error", () => server.kill("SIGTERM"));
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  let tables = 0;
  const ended = once(server, "close");
  for await (const line of lines) {
    const plain = stripVTControlCharacters(line);
    // wrangler shows them again whenever it starts the Worker anew.
    if (plain.startsWith("Your Worker has access to the following bindings")) tables++;
    if (tables < 2 || !/^(Your Worker|Binding |env\.)/.test(plain)) process.stdout.write(`${line}\n`);
    const [, url] = /Ready on (http\S+)/.exec(plain) ?? [];
    // The chores seal a day of the new organization's access log.
    if (url && isNew) await fetch(`${url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`).catch(() => {});
    if (url) introduce(url.replace(/\/\/(127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\*):/, "//localhost:"));
  }
  const [code] = await ended;
  process.exit(code ?? 1);
}

function introduce(url: string) {
  process.stdout.write(`
Serving ${url} with the organization "${DEMO_CLIENT.organization}", whose API client is
  X-Client-ID:     ${DEMO_CLIENT.client_id}
  X-Client-Secret: ${DEMO_CLIENT.client_secret}

Try it:
  curl -K demo.curl ${url}/api/external/waiting_rooms

Or walk through the product, in another terminal:
  npm run demo -- ${url}

`);
}

/**
 * `npm run dev`: migrates the local database, loads the demo organization, and starts the server. Takes the flags of
 * `wrangler dev`. The first two steps also use --persist-to, --config and --env, so that the server finds their data.
 * With --shards, the server has so many databases (see src/database/shards.ts), also if the configuration binds fewer.
 */
import { copyFileSync, existsSync } from "node:fs";
import { DEVELOPMENT_ASSETS } from "../reference/assets.ts";
import { readSettings, SettingsError } from "../settings.ts";
import { DEMO_CLIENT, loadDemoOrganization } from "./demo_organization.ts";
import { readFlags } from "./flags.ts";
import { migrateDatabases, withLocalBindings } from "./local_database.ts";
import { startWrangler } from "./wrangler.ts";
import { configurationOf } from "./wrangler_config.ts";

const { values, without } = readFlags({
  "persist-to": { type: "string", default: ".wrangler/state" },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
  shards: { type: "string" },
});
const isGenerated = values.shards !== undefined;

/** Addresses that wrangler may listen on, all of which `localhost` reaches. */
const HERE = ["127.0.0.1", "0.0.0.0", "::1", "::", "*"];

if (!existsSync(".dev.vars")) copyFileSync(".dev.vars.example", ".dev.vars");
try {
  const environment = typeof values.env === "string" ? values.env : undefined;
  const given = { config: String(values.config), env: environment };
  const config = isGenerated ? configurationOf(requireCount(values.shards), given) : given.config;
  await withLocalBindings({ persistTo: String(values["persist-to"]), config, environment }, async (env) => {
    await migrateDatabases(env);
    readSettings(env);
    await loadDemoOrganization(env, Date.now());
  });
  serve(isGenerated ? [...without("shards", "config"), "--config", config] : without());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  if (error instanceof SettingsError)
    process.stderr.write("Correct .dev.vars. Or delete it: then this command makes it anew.\n");
  process.exit(1);
}

function requireCount(shards: unknown): number {
  if (/^([1-9]\d?|100)$/.test(String(shards))) return Number(shards);
  throw new Error(`--shards: ${shards} must be a number from 1 to 100`);
}

function serve(flags: string[]) {
  // Not minified as in wrangler.toml, so that stacks name functions. The page of these assets has the credentials for
  // development filled in.
  const server = startWrangler(["dev", "--no-minify", "--assets", DEVELOPMENT_ASSETS, ...flags], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  server.on("message", (message) => {
    const { event, ip, port } = JSON.parse(String(message));
    if (event === "DEV_SERVER_READY") introduce(`http://${HERE.includes(ip) ? "localhost" : ip}:${port}`);
  });
  server.on("exit", (code) => process.exit(code ?? 1));
  // The terminal sends its signals to wrangler too. This is for a signal that only this process gets.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
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

/**
 * `npm run dev`: migrates the local database, loads the demo organization, and starts the server. Takes the flags of
 * `wrangler dev`. The first two steps also use --persist-to, --config and --env, so that the server finds their data.
 */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { getPlatformProxy } from "wrangler";
import { DEVELOPMENT_ASSETS } from "../openapi/assets.ts";
import { readSettings, SettingsError } from "../settings.ts";
import { DEMO_CLIENT, loadDemoOrganization } from "./demo_organization.ts";
import { runWrangler, startWrangler } from "./wrangler.ts";

const flags = process.argv.slice(2);
const { values } = parseArgs({
  args: flags,
  options: {
    "persist-to": { type: "string", default: ".wrangler/state" },
    config: { type: "string", short: "c", default: "wrangler.toml" },
    env: { type: "string", short: "e" },
  },
  strict: false,
  allowPositionals: true,
});
const [persistTo, config] = [String(values["persist-to"]), String(values.config)];
/** Addresses that wrangler may listen on, all of which `localhost` reaches. */
const HERE = ["127.0.0.1", "0.0.0.0", "::1", "::", "*"];
const environment = typeof values.env === "string" ? values.env : undefined;

/** The steps before the server print only failures. */
const quiet = { ...process.env, WRANGLER_LOG: "error" };

if (!existsSync(".dev.vars")) copyFileSync(".dev.vars.example", ".dev.vars");
try {
  migrate();
  await loadDemoData();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  if (error instanceof SettingsError)
    process.stderr.write("Correct .dev.vars. Or delete it: then this command makes it anew.\n");
  process.exit(1);
}
serve();

function migrate() {
  const target = ["--local", "--persist-to", persistTo, "--config", config];
  if (environment) target.push("--env", environment);
  runWrangler(["d1", "migrations", "apply", "DB", ...target], { env: quiet });
}

async function loadDemoData() {
  const spoken = process.env;
  process.env = quiet;
  const { env, dispose } = await getPlatformProxy<Env>({
    configPath: config,
    environment,
    persist: { path: join(persistTo, "v3") },
  });
  try {
    readSettings(env);
    await loadDemoOrganization(env, Date.now());
  } finally {
    await dispose();
  }
  process.env = spoken;
}

function serve() {
  // The page of these assets has the credentials for development filled in.
  const server = startWrangler(["dev", "--assets", DEVELOPMENT_ASSETS, ...flags], {
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
  curl -H "X-Client-ID: ${DEMO_CLIENT.client_id}" -H "X-Client-Secret: ${DEMO_CLIENT.client_secret}" ${url}/api/external/waiting_rooms

Or walk through the product, in another terminal:
  npm run demo -- ${url}

`);
}

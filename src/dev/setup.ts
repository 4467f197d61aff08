/** `npm run setup`: creates everything at Cloudflare that a deployment needs. It can be run again. */
import { explained } from "./cloudflare_api.ts";
import { CONSENT_USAGE, consentOptions, runCommand, say, UsageError } from "./command.ts";
import { requireRegionName } from "./region_configuration.ts";
import { JURISDICTIONS, REGIONS } from "./setup_configuration.ts";
import { type Plan, planSetup, type SetupRequest } from "./setup_plan.ts";
import { SECRETS_BY_HAND, secretsFile } from "./setup_secrets.ts";
import { carryOut } from "./steps.ts";
import { sameConfig } from "./wrangler.ts";

const USAGE = `
Usage: npm run setup -- [--env staging] [--location weur] [--jurisdiction eu] [--region eu]

Creates what a deployment needs at Cloudflare: the database, buckets, queues and random secrets. Shows its plan, and asks
before it changes anything. Existing resources stay as they are, so you can run it again.

  --env NAME           sets up this environment of wrangler.toml, and adds it if it is missing
  --location NAME      the location of a new database, with the Worker near it: ${Object.keys(REGIONS).join(", ")}
  --jurisdiction NAME  keeps the database and the buckets in this jurisdiction for good: ${JURISDICTIONS.join(", ")}
  --region NAME        names the region of the database, so that \`shards:add --region\` can add others
${CONSENT_USAGE}  --config FILE, -c    uses another configuration file than wrangler.toml
`;

const OPTIONS = {
  env: { type: "string", short: "e" },
  location: { type: "string" },
  jurisdiction: { type: "string" },
  region: { type: "string" },
  ...consentOptions,
  config: { type: "string", short: "c", default: "wrangler.toml" },
} as const;

await runCommand(USAGE, OPTIONS, async (values) => {
  const request: SetupRequest = values;
  requireRequest(request);
  const plan = await planSetup(request, values["dry-run"]).catch((error) => {
    throw explained("Reading the state of the account", error);
  });
  if (plan.steps.length === 0) say("Everything exists: nothing to do.");
  else if (!(await carryOut(plan.steps, { ...values, remote: true }))) return;
  sayNext(request, plan);
});

function requireRequest({ env, location, jurisdiction, region, config }: SetupRequest) {
  if (env !== undefined && !/^[a-z][a-z0-9-]{0,30}$/.test(env))
    throw new UsageError("--env must be 1 to 31 characters of a-z, 0-9 and hyphens, and begin with a letter");
  for (const [name, value, values] of [
    ["--location", location, Object.keys(REGIONS)],
    ["--jurisdiction", jurisdiction, JURISDICTIONS],
  ] as const)
    if (value !== undefined && !values.includes(value))
      throw new UsageError(`${name}: ${value} must be one of ${values.join(", ")}`);
  requireRegionName(region);
  if (!config.endsWith(".toml")) throw new UsageError("--config must be a TOML file");
}

/** Prints the steps that only a person can do, as commands to paste. */
function sayNext({ config, env }: SetupRequest, { configuration, secrets, usesFile }: Plan) {
  const flags = sameConfig({ config, env });
  const file = secretsFile({ config, env });
  if (usesFile)
    say(
      `\nThe secrets are in ${file}. Move them into a password manager and delete the file: Cloudflare never shows them ` +
        "again. The video platform needs PLATFORM_API_TOKEN, a backup needs DIGEST_SECRET and INVITE_TOKEN_SECRET, and AUDIT_SIGNING_KEY proves that seals are yours.",
    );
  const missing = SECRETS_BY_HAND.filter((name) => !secrets.includes(name));
  if (missing.length > 0) {
    say(
      "\nWhat is left for you: create an R2 API token in the dashboard (R2 object storage, Manage API tokens) with Object " +
        `Read & Write for the bucket ${configuration.r2_buckets.find(({ binding }) => binding === "RECORDINGS")?.bucket_name}. Then set:`,
    );
    for (const name of missing) say(`  npx wrangler secret put ${name}${flags}`);
  }
  say(`
In ${config}, set PUBLIC_URL and CONTACT under [${env ? `env.${env}.` : ""}vars], and routes if you have a domain of your own. To mail invites, set MAIL_FROM (src/docs/mail.md).
Then:
  npm run deploy${flags ? ` --${flags}` : ""}`);
}

/**
 * `npm run environments:add -- --name staging`: adds an environment to wrangler.toml, with a database, buckets, queues and rate
 * limits of its own. wrangler inherits none of these from the first environment.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { environmentIn } from "../reference/operator.ts";
import { runCommand, UsageError } from "./command.ts";

const usage = `
Usage: npm run environments:add -- --name NAME

  --name NAME           such as staging: the names of its database, buckets and queues end with it
`;

const CONFIG = "wrangler.toml";

/** wrangler's commands for what has a name. */
const MAKE: Record<string, string> = {
  database_name: "d1 create NAME --update-config=false",
  bucket_name: "r2 bucket create NAME --update-config=false",
  queue: "queues create NAME",
};

process.exitCode = await runCommand(usage, { name: { type: "string" } }, ({ name = "" }) => {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(name))
    throw new UsageError(
      "--name must be 1 to 31 characters of a-z, 0-9 and hyphens, and begin with a letter\n",
    );
  const toml = readFileSync(CONFIG, "utf8");
  if (environmentIn(toml, name)) throw new Error(`${CONFIG} has the environment ${name} already.`);
  const text = environmentText(toml, name);
  appendFileSync(CONFIG, text);
  const made = [...text.matchAll(/^(database_name|bucket_name|queue) = "(.*)"$/gm)];
  const commands = new Set(
    made.map(([, kind = "", each = ""]) => `npx wrangler ${MAKE[kind]?.replace("NAME", each)}`),
  );
  process.stdout.write(`${CONFIG} has the environment ${name} now. What it needs at Cloudflare:

${[...commands].join("\n")}

Then set its secrets (npx wrangler secret put … --env ${name}), and run
npm run types && npm run deploy -- --env ${name}
`);
});

/** What wrangler does not inherit, with names of its own, and without what is only known when it is made. */
function environmentText(toml: string, name: string): string {
  const environments = new Set([...toml.matchAll(/^\[+env\.([\w-]+)/gm)].map(([, each]) => each));
  const sections = environmentIn(toml)
    .split(/^(?=\[)/m)
    .filter((section) => /^\[+(d1_databases|r2_buckets|queues|send_email|ratelimits|vars)\b/.test(section))
    .map((section) =>
      section
        .replace(/^#.*\n/gm, "")
        .replace(/^database_id = .*\n/gm, "")
        .replace(/^(\[+)/, `$1env.${name}.`)
        .replace(/^((?:database_name|bucket_name|queue|dead_letter_queue) = ".*)"$/gm, `$1-${name}"`)
        // Workers of one account that have the same one count together.
        .replace(/^namespace_id = "(.*)"$/gm, `namespace_id = "${environments.size + 2}$1"`)
        .replace(/^(PUBLIC_URL|CONTACT) = ".*"$/gm, '$1 = ""')
        .replace(/^\[env\.[\w-]+\.vars\]$/m, `$&\nRECORDINGS_S3_BUCKET = "recordings-${name}"`)
        .trim(),
    );
  return `\n${sections.join("\n\n")}\n`;
}

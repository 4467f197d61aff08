/**
 * `npm run environments:add -- --name staging`: adds an environment to wrangler.toml, with a database, buckets, queues and rate
 * limits of its own. wrangler inherits none of these from the first environment. What it inherits and must not have is the
 * address.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { runCommand, UsageError } from "./command.ts";
import { environmentsIn, readConfiguration, type WranglerConfiguration } from "./wrangler_config.ts";

const usage = `
Usage: npm run environments:add -- --name NAME

Adds an environment to wrangler.toml, and says which commands make what it needs.

  --name NAME           such as staging: the names of its database, buckets and queues end with it
`;

const CONFIG = "wrangler.toml";

process.exitCode = await runCommand(usage, { name: { type: "string" } }, ({ name = "" }) => {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(name))
    throw new UsageError(
      "--name must be 1 to 31 characters of a-z, 0-9 and hyphens, and begin with a letter",
    );
  const text = readFileSync(CONFIG, "utf8");
  if (environmentsIn(CONFIG).includes(name))
    throw new Error(`${CONFIG} has the environment ${name} already.`);
  const { sections, commands } = environmentLike(readConfiguration({ config: CONFIG }), name, text);
  appendFileSync(CONFIG, `\n${sections.join("\n\n")}\n`);
  process.stdout.write(`${CONFIG} has the environment ${name} now. What it needs at Cloudflare:

${commands.join("\n")}

Then set its secrets (npx wrangler secret put … --env ${name}), and run
npm run types && npm run deploy -- --env ${name}
`);
});

/** Sections of TOML for an environment that has what the first one has, and the commands that make it. */
function environmentLike(first: WranglerConfiguration, name: string, text: string) {
  const own = (each: string) => `${each}-${name}`;
  const database = first.d1_databases.find(({ binding }) => binding === "DB");
  const buckets = first.r2_buckets.map((bucket) => ({ ...bucket, bucket_name: own(bucket.bucket_name) }));
  const database_name = own(database?.database_name ?? "database");
  // Workers of one account that have the same one count together.
  const series = [2, 3, 4, 5, 6, 7, 8, 9].find((each) => !text.includes(`namespace_id = "${each}1`)) ?? 10;
  const tables = (path: string, rows: object[]) => rows.map((row) => section(`[env.${name}.${path}]`, row));
  const jurisdiction = buckets.find((bucket) => bucket.jurisdiction)?.jurisdiction;
  const place = jurisdiction ? ` --jurisdiction ${jurisdiction}` : "";
  return {
    sections: [
      section(`env.${name}`, { routes: [], workers_dev: true }),
      ...tables("d1_databases", [{ ...database, database_name, database_id: undefined }]),
      ...tables("r2_buckets", buckets),
      ...tables(
        "queues.producers",
        first.queues.producers.map((each) => ({ ...each, queue: own(each.queue) })),
      ),
      ...tables(
        "queues.consumers",
        first.queues.consumers.map((each) => ({ ...each, queue: own(each.queue) })),
      ),
      ...tables("send_email", first.send_email),
      ...tables(
        "ratelimits",
        first.ratelimits.map((limit) => ({ ...limit, namespace_id: `${series}${limit.namespace_id}` })),
      ),
      section(`env.${name}.vars`, {
        ...first.vars,
        PUBLIC_URL: "",
        CONTACT: "",
        RECORDINGS_S3_BUCKET: own(String(first.vars.RECORDINGS_S3_BUCKET ?? "recordings")),
      }),
    ],
    commands: [
      `npx wrangler d1 create ${database_name} --update-config=false${place}`,
      ...buckets.map(
        ({ bucket_name }) => `npx wrangler r2 bucket create ${bucket_name} --update-config=false${place}`,
      ),
      ...first.queues.producers.map(({ queue }) => `npx wrangler queues create ${own(queue)}${place}`),
    ],
  };
}

function section(header: string, row: object): string {
  return [`[${header}]`, ...entriesOf(row).map(([key, value]) => `${key} = ${toml(value)}`)].join("\n");
}

/** A value on one line. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${entriesOf(value)
    .map(([key, each]) => `${key} = ${toml(each)}`)
    .join(", ")} }`;
}

function entriesOf(row: object) {
  return Object.entries(row).filter(([, value]) => value !== undefined);
}

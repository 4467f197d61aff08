/** The changes of `npm run setup` to wrangler.toml: a new environment, the jurisdiction of buckets, the Worker's placement. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRegions } from "../database/shards.ts";
import { readConfiguration, type WranglerConfiguration } from "./wrangler_config.ts";

export const JURISDICTIONS = ["eu", "fedramp", "us"];

/**
 * D1's location hints, each with a nearby cloud region: a Worker's placement must be a cloud region, and D1 does not say in
 * which city a database is.
 */
export const REGIONS: Record<string, string> = {
  weur: "aws:eu-central-1",
  eeur: "aws:eu-central-2",
  wnam: "aws:us-west-2",
  enam: "aws:us-east-1",
  apac: "aws:ap-southeast-1",
  oc: "aws:ap-southeast-2",
};

export function configurationOfText(text: string, env: string | undefined): WranglerConfiguration {
  const folder = mkdtempSync(join(tmpdir(), "wrangler-"));
  try {
    const config = join(folder, "wrangler.toml");
    writeFileSync(config, text);
    return readConfiguration({ config, env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Gives the new environment its own resources, which wrangler does not inherit. Clears the routes, which it would inherit. */
export function withEnvironment(text: string, name: string): string {
  const first = configurationOfText(text, undefined);
  const own = (each: string) => `${each}-${name}`;
  const regions = readRegions(String(first.vars.SHARD_REGIONS ?? ""));
  // A new environment has one database, and so one region.
  const otherRegions =
    /^DEFAULT_REGION$|^RECORDINGS_S3_(ENDPOINT|BUCKET|REGION|ACCESS_KEY_ID|SECRET_ACCESS_KEY)_/;
  const database = first.d1_databases.find(({ binding }) => binding === "DB");
  const tables = (path: string, rows: object[]) => rows.map((row) => section(`[env.${name}.${path}]`, row));
  const named = <Row extends { queue: string }>(rows: Row[]) =>
    rows.map((row) => ({ ...row, queue: own(row.queue) }));
  // Workers of one account with the same namespace_id share their counts, so each environment needs its own.
  const series = [2, 3, 4, 5, 6, 7, 8, 9].find((each) => !text.includes(`namespace_id = "${each}1`)) ?? 10;
  const sections = [
    section(`env.${name}`, { routes: [], workers_dev: true }),
    ...tables("d1_databases", [
      { ...database, database_name: own(database?.database_name ?? "database"), database_id: undefined },
    ]),
    ...tables(
      "r2_buckets",
      first.r2_buckets.filter(isFirst).map((bucket) => ({ ...bucket, bucket_name: own(bucket.bucket_name) })),
    ),
    ...tables("queues.producers", named(first.queues.producers)),
    ...tables("queues.consumers", named(first.queues.consumers)),
    ...tables("send_email", first.send_email),
    ...tables(
      "ratelimits",
      first.ratelimits.map((limit) => ({ ...limit, namespace_id: `${series}${limit.namespace_id}` })),
    ),
    section(`env.${name}.vars`, {
      ...Object.fromEntries(Object.entries(first.vars).filter(([name]) => !otherRegions.test(name))),
      ...(regions && { SHARD_REGIONS: `0=${regions.get(0)}` }),
      PUBLIC_URL: "",
      CONTACT: "",
      RECORDINGS_S3_BUCKET: own(String(first.vars.RECORDINGS_S3_BUCKET ?? "recordings")),
    }),
  ];
  return `${text.trimEnd()}\n\n${sections.join("\n\n")}\n`;
}

/** Whether a bucket is one of the first database's region. */
export const isFirst = ({ binding }: { binding: string }) => ["RECORDINGS", "AUDIT_LOGS"].includes(binding);

export function withJurisdiction(text: string, env: string | undefined, jurisdiction: string): string {
  const header = `[[${env === undefined ? "" : `env.${env}.`}r2_buckets]]`;
  return text
    .split(/^(?=\[)/m)
    .map((table) =>
      table.startsWith(header) &&
      /^binding = "(RECORDINGS|AUDIT_LOGS)"/m.test(table) &&
      !/^jurisdiction\s*=/m.test(table)
        ? table.replace(/^bucket_name\s*=.*$/m, `$&\njurisdiction = "${jurisdiction}"`)
        : table,
    )
    .join("");
}

/** Places the environment's Worker near its database. An environment inherits the placement of the first one. */
export const withPlacement = (text: string, env: string | undefined, location: string): string =>
  `${text.trimEnd()}\n\n${section(`${env === undefined ? "" : `env.${env}.`}placement`, { region: REGIONS[location] })}\n`;

export const section = (header: string, row: object): string =>
  [`[${header}]`, ...entriesOf(row).map(([key, value]) => `${key} = ${toml(value)}`)].join("\n");

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${entriesOf(value)
    .map(([key, each]) => `${key} = ${toml(each)}`)
    .join(", ")} }`;
}

const entriesOf = (row: object) => Object.entries(row).filter(([, value]) => value !== undefined);

/** Regions in wrangler.toml: which database is in which, and the buckets and settings that each has for itself (src/docs/regions.md). */
import { missingInRegion, readRegions, suffixOfRegion } from "../database/shards.ts";
import { MAX_REGION_LENGTH } from "../limits.ts";
import { UsageError } from "./command.ts";
import { configurationOfText, isFirst, section } from "./setup_configuration.ts";
import { bindingOf } from "./wrangler.ts";
import { shardsIn, type WranglerConfiguration } from "./wrangler_config.ts";

export function requireRegionName(region: string | undefined) {
  if (region !== undefined && !new RegExp(`^[a-z0-9-]{1,${MAX_REGION_LENGTH}}$`).test(region))
    throw new UsageError(`--region must be 1 to ${MAX_REGION_LENGTH} characters of a-z, 0-9 and hyphens`);
}

/** The region of each database; undefined without regions. */
export const regionsOf = ({ vars }: WranglerConfiguration) => readRegions(String(vars.SHARD_REGIONS ?? ""));

/** The buckets that a region has for itself, as they are bound, or else as they would be. None for the first region. */
export function bucketsOfRegion(
  configuration: WranglerConfiguration,
  region: string,
  jurisdiction: string | undefined,
) {
  const { r2_buckets } = configuration;
  if (regionsOf(configuration)?.get(0) === region) return [];
  return r2_buckets.filter(isFirst).map((first) => {
    const binding = first.binding + suffixOfRegion(region);
    const bound = r2_buckets.find((each) => each.binding === binding);
    // R2 has no jurisdiction in the United States, only places there.
    const place = jurisdiction === "us" ? undefined : jurisdiction;
    return bound ?? { ...first, binding, bucket_name: `${first.bucket_name}-${region}`, jurisdiction: place };
  });
}

/** Adds a database to a region. The first one of a region brings its buckets, and the name of the one with the recordings. */
export function withRegion(
  text: string,
  env: string | undefined,
  { shard, region, jurisdiction }: { shard: number; region: string; jurisdiction?: string | undefined },
): string {
  const configuration = configurationOfText(text, env);
  const regions = regionsOf(configuration) ?? new Map<number, string>();
  regions.set(shard, region);
  const pairs = [...regions].sort(([one], [other]) => one - other).map((pair) => pair.join("="));
  const named = withVariable(text, env, "SHARD_REGIONS", pairs.join(","));
  if (regions.get(0) === region) return named;
  const buckets = bucketsOfRegion(configuration, region, jurisdiction);
  const table = `[${env === undefined ? "" : `env.${env}.`}r2_buckets]`;
  const sections = buckets
    .filter((bucket) => !configuration.r2_buckets.includes(bucket))
    .map((bucket) => `\n${section(table, bucket)}\n`);
  const [{ bucket_name = "" } = {}] = buckets;
  const setting = `RECORDINGS_S3_BUCKET${suffixOfRegion(region)}`;
  return `${withVariable(named, env, setting, bucket_name).trimEnd()}\n${sections.join("")}`;
}

export function withVariable(text: string, env: string | undefined, name: string, value: string): string {
  const header = `[${env === undefined ? "" : `env.${env}.`}vars]`;
  const line = `${name} = ${JSON.stringify(value)}`;
  const old = new RegExp(`^${name}\\s*=.*$`, "m");
  const tables = text.split(/^(?=\[)/m);
  const found = tables.findIndex((table) => table.startsWith(header));
  if (found < 0) return `${text.trimEnd()}\n\n${header}\n${line}\n`;
  const table = tables[found] ?? "";
  tables[found] = old.test(table)
    ? table.replace(old, () => line)
    : table.replace(header, () => `${header}\n${line}`);
  return tables.join("");
}

/** The names of the bindings and settings that a region lacks. */
export function missingNames(
  { vars, r2_buckets }: WranglerConfiguration,
  region: string,
  secrets: string[] = [],
): string[] {
  const set = [...secrets, ...r2_buckets.map(({ binding }) => binding)].map((name) => [name, "set"]);
  return missingInRegion(region, { ...vars, ...Object.fromEntries(set) });
}

export function missingInRegions(configuration: WranglerConfiguration, secrets: string[]): string[] {
  const regions = regionsOf(configuration);
  if (!regions) return configuration.vars.SHARD_REGIONS ? ["A valid SHARD_REGIONS"] : [];
  const homeless = shardsIn(configuration).filter((shard) => !regions.has(shard));
  const others = [...new Set(regions.values())].filter((region) => region !== regions.get(0));
  return [
    ...homeless.map((shard) => `The region of ${bindingOf(shard)} in SHARD_REGIONS`),
    ...others.flatMap((region) =>
      missingNames(configuration, region, secrets).map(
        (name) => `The setting or binding ${name} of the region ${region}`,
      ),
    ),
  ];
}

/** Opens the buckets of all regions, on this machine or at Cloudflare. */
import { envOfShard, suffixOfRegion } from "../database/shards.ts";
import { readStorageSettings } from "../settings.ts";
import { stateOfBucket } from "./account_state.ts";
import { atCloudflare, storeIn } from "./file_store.ts";
import { withLocalBindings } from "./local_bindings.ts";
import type { RegionFiles } from "./move_files.ts";
import { regionsOf } from "./region_configuration.ts";
import { LOCKED_DAYS } from "./setup_plan.ts";
import { LOCAL_STATE, type Target } from "./wrangler.ts";
import { readConfiguration, type WranglerConfiguration } from "./wrangler_config.ts";

export interface Regions {
  /** Empty if the service has no regions. */
  regionOf: (shard: number) => string;
  /** @throws SettingsError naming the settings that the region lacks */
  filesOf: (shard: number) => RegionFiles;
}

/** In production, the settings of the storage come from the environment, as in the secrets of the Worker. */
export async function withRegions(target: Target, run: (regions: Regions) => Promise<void>) {
  if (target.remote) return run(regionsIn(target, remoteBindings(readConfiguration(target))));
  const { config, env: environment, "persist-to": persistTo = LOCAL_STATE } = target;
  return withLocalBindings({ config, environment, persistTo }, (env) => run(regionsIn(target, env)));
}

type BoundBucket = WranglerConfiguration["r2_buckets"][number];

/** The Worker's environment, with the names of its buckets in place of the buckets. */
function remoteBindings({ vars, r2_buckets, d1_databases }: WranglerConfiguration): Env {
  const buckets = r2_buckets.map((bucket) => [bucket.binding, bucket]);
  const databases = d1_databases.map(({ binding }) => [binding, binding]);
  return { ...vars, ...process.env, ...Object.fromEntries([...buckets, ...databases]) };
}

function regionsIn(target: Target, env: Env): Regions {
  const regions = regionsOf(readConfiguration(target));
  const regionOf = (shard: number) => regions?.get(shard) ?? "";
  // If two regions shared a bucket, the files that a move leaves behind would be the only ones.
  const owners = new Map<string, string>();
  function filesOf(shard: number): RegionFiles {
    const region = regionOf(shard);
    const own = envOfShard(env, shard);
    const settings = readStorageSettings(own);
    const { RECORDINGS_S3_ENDPOINT: endpoint, RECORDINGS_S3_BUCKET: bucketName } = settings;
    const address = `${endpoint}/${bucketName}`;
    const owner = owners.get(address) ?? region;
    if (owner !== region)
      throw new Error(
        `The regions ${owner} and ${region} have the same bucket ${bucketName}: set RECORDINGS_S3_BUCKET${suffixOfRegion(region)} to a bucket of its own.`,
      );
    owners.set(address, region);
    if (target.remote) {
      const bucket = own.AUDIT_LOGS as unknown as BoundBucket;
      return {
        region,
        bucketName,
        recordings: storeIn({ settings }),
        auditLogs: atCloudflare(target, bucket),
        lockedDays: async () => ((await stateOfBucket(target, bucket)).isLocked ? LOCKED_DAYS : 0),
      };
    }
    const local = { ...settings, RECORDINGS_S3_ENDPOINT: "/" };
    const recordings = storeIn({ settings, ...(endpoint.startsWith("/") && { recordings: own.RECORDINGS }) });
    const auditLogs = storeIn({ settings: local, recordings: own.AUDIT_LOGS });
    return { region, bucketName, recordings, auditLogs, lockedDays: async () => 0 };
  }
  return { regionOf, filesOf };
}

import { env } from "cloudflare:workers";
import { platform } from "./api.ts";
import { runCronOf } from "./cron.ts";
import { aLiveKitServer } from "./livekit.ts";
import { observedDatabase, PRIMARY } from "./observed_database.ts";
import { anOrganization } from "./organization.ts";
import { throughWorkerWith } from "./worker.ts";

/** Replaces a round trip. It returns the result of `run`, or throws. */
export type OnTrip = <Result>(run: () => Promise<Result>) => Promise<Result>;

const asItIs: OnTrip = (run) => run();

/**
 * The Worker with three databases: the directory and two shards. Each counts its round trips, and `on` can replace them.
 * New organizations go to the newest shard, or to the one that a test names.
 */
export function aShardedService(bindings: object = {}) {
  const on: OnTrip[] = [asItIs, asItIs, asItIs];
  const trips = [0, 0, 0];
  const observed = [env.DB, env.SPARE_1, env.SPARE_2].map((database, shard) =>
    observedDatabase(
      {
        query(run) {
          trips[shard] = (trips[shard] ?? 0) + 1;
          return (on[shard] ?? asItIs)(run);
        },
      },
      database,
      PRIMARY,
    ),
  );
  const [DB, DB_1, DB_2] = observed;
  const isBound = ([, binding]: [string, unknown]) => binding !== undefined;
  const bound = Object.fromEntries(Object.entries({ DB, DB_1, DB_2, ...bindings }).filter(isBound));
  const fetcher = throughWorkerWith(bound);
  return {
    on,
    fetcher,
    platform: platform.through(fetcher),
    liveKit: aLiveKitServer({ fetcher }),
    anOrganizationIn: (shard: number, DEFAULT_REGION = "") =>
      anOrganization(
        undefined,
        undefined,
        throughWorkerWith({ ...bound, DEFAULT_REGION, NEW_ORGANIZATIONS_SHARD: String(shard) }),
      ),
    runCron: (time?: number) => runCronOf({ ...env, ...bound } as Env, time),
    /** The round trips to each database that the work costs. */
    async tripsOf(work: () => Promise<unknown>) {
      trips.fill(0);
      await work();
      return [...trips];
    },
    /** Replaces each round trip to a shard while the work runs. */
    async during<T>(shard: number, onTrip: OnTrip, work: () => Promise<T>): Promise<T> {
      on[shard] = onTrip;
      try {
        return await work();
      } finally {
        on[shard] = asItIs;
      }
    },
  };
}

export type ShardedService = ReturnType<typeof aShardedService>;

export const isDown: OnTrip = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));

/**
 * Measures how many more requests several databases handle than one, and how a slow or failing database affects the others.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { aProvider } from "../../support/clinic.ts";
import { aCall } from "../../support/reports.ts";
import { bindingsOfShards, databasesInMemory } from "./busy_shards.ts";
import { type ClinicInNode, openClinic } from "./clinic_in_node.ts";

/** In milliseconds: each batch keeps its database busy for longer than this process needs for a request. */
export const BUSY_FOR = 20;
export const DATABASES = 4;
const ORGANIZATIONS = 8;
const CALLERS_OF_EACH = 8;

/**
 * The database that is slow or down, how many milliseconds its batches take when it is slow, and how often each state
 * occurs.
 */
const UNWELL = 1;
const SLOW = 2000;
const TURNS = 3;

export interface Load {
  name: string;
  /** Requests per second, with one database and with several. */
  rates: number[];
}

type Member = Awaited<ReturnType<typeof aProvider>>;

const LOADS: Record<string, (clinic: ClinicInNode, provider: Member) => Promise<unknown>> = {
  "Clients read lists and metrics, and create rooms": async ({ client }) => {
    for (const path of ["/waiting_rooms", "/calls", "/events"]) await client("GET", path);
    await client("POST", "/waiting_rooms", { waiting_room: { name: "Cardiology", is_active: true } });
  },
  "The platform reports new calls, each four times": async (clinic, provider) => {
    const { path, body } = await aCall(clinic, provider);
    for (let report = 1; report <= 4; report++) await clinic.platform("PUT", path, body);
  },
};

/** Lets the clock run, so that calls reported a millisecond later are newer. */
export function letTimePass() {
  Date.now = () => Math.floor(performance.timeOrigin + performance.now());
}

const openOrganizations = (env: Env, databases: number) =>
  Promise.all(
    Array.from({ length: ORGANIZATIONS }, async (_, n) => {
      const shard = n % databases;
      const clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: String(shard) } as Env);
      return { shard, clinic, provider: await aProvider(clinic) };
    }),
  );

export async function measureLoad(seconds: number): Promise<Load[]> {
  letTimePass();
  const loads: Load[] = Object.keys(LOADS).map((name) => ({ name, rates: [] }));
  for (const count of [1, DATABASES]) {
    const opened = await openOrganizations(
      bindingsOfShards(databasesInMemory(count), () => sleep(BUSY_FOR)),
      count,
    );
    for (const { name, rates } of loads) {
      // The service caches each client before the measurement begins.
      for (const { clinic, provider } of opened) await LOADS[name]?.(clinic, provider);
      let requests = 0;
      const end = performance.now() + seconds * 1000;
      const callers = opened.flatMap((each) => Array.from({ length: CALLERS_OF_EACH }, () => each));
      await Promise.all(
        callers.map(async ({ clinic, provider }) => {
          for (; performance.now() < end; requests += 4) await LOADS[name]?.(clinic, provider);
        }),
      );
      rates.push(requests / ((performance.now() - end) / 1000 + seconds));
    }
  }
  return loads;
}

const STATES: Record<string, () => Promise<void>> = {
  well: () => sleep(BUSY_FOR),
  [`${SLOW / 1000} s a batch`]: () => sleep(SLOW),
  down: async () => {
    await sleep(BUSY_FOR);
    throw new Error("D1_ERROR: the database is down");
  },
};

export interface Neighbours {
  name: string;
  /** For each state of that database, how many milliseconds four requests to the other databases take. */
  latencies: Map<string, number[]>;
}

/** Measures organizations whose own database is healthy. The states take turns, so that a busy machine affects all of them alike. */
export async function measureNeighbours(seconds: number): Promise<Neighbours[]> {
  letTimePass();
  // Does not log that the database is down.
  const { error } = console;
  console.error = () => {};
  let state = "well";
  const opened = await openOrganizations(
    bindingsOfShards(databasesInMemory(DATABASES), async (shard) => {
      await STATES[shard === UNWELL ? state : "well"]?.();
    }),
    DATABASES,
  );
  const neighbours = Object.keys(LOADS).map(
    (name): Neighbours => ({ name, latencies: new Map(Object.keys(STATES).map((each) => [each, []])) }),
  );
  for (let turn = 0; turn < TURNS; turn++)
    for (const { name, latencies } of neighbours)
      for (const [next, measured] of latencies) {
        state = next;
        const end = performance.now() + (seconds * 1000) / TURNS;
        const asking = opened.map(async ({ shard, clinic, provider }) => {
          while (performance.now() < end) {
            const started = performance.now();
            const asked = LOADS[name]?.(clinic, provider);
            if (shard === UNWELL) await asked?.catch(() => {});
            else {
              await asked;
              measured.push(performance.now() - started);
            }
          }
        });
        await sleep(end - performance.now());
        // Requests to the slow database need not wait any longer.
        state = "well";
        await Promise.all(asking);
      }
  console.error = error;
  return neighbours;
}

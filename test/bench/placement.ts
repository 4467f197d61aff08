/** Measures how long a caller far from the database waits, with the Worker near the caller and near the database. */
import { setTimeout as sleep } from "node:timers/promises";
import { app } from "../../src/app.ts";
import type { Handler } from "../project/support/worker_in_node.ts";
import { aContender, type Bench } from "./measure.ts";
import { operations } from "./operations.ts";
import { median } from "./statistics.ts";

/** In milliseconds: a round trip between two parts of the world, and one within a city. */
export const FAR = 150;
const NEAR = 5;

/** A read that replicas cannot answer, and a write. */
const NAMES = [
  "GET /api/external/waiting_rooms/:slug",
  "PUT /api/platform/organizations/:organization_id/calls/:key",
];

export interface Placement {
  name: string;
  round_trips: number;
  /** The milliseconds that the caller waits, with the Worker beside the caller and beside the database. */
  beside_caller: number;
  beside_database: number;
}

export async function measurePlacement(bench: Bench, requests: number): Promise<Placement[]> {
  const measured: Placement[] = [];
  for (const operation of operations.filter(({ name }) => NAMES.includes(name))) {
    const { figures, latency } = await aContender(bench, operation, app.fetch as Handler);
    const waitsFor = async (toWorker: number, toDatabase: number) => {
      const times: number[] = [];
      for (let n = 0; n < requests; n++) {
        const started = performance.now();
        await sleep(toWorker);
        times.push(performance.now() - started + (await latency(toDatabase)));
      }
      return median(times);
    };
    measured.push({
      name: operation.name,
      round_trips: figures.round_trips,
      beside_caller: await waitsFor(NEAR, FAR),
      beside_database: await waitsFor(FAR, NEAR),
    });
  }
  return measured;
}

/** What a request costs, ours and the floor's by turns. */
import { app } from "../../src/app.ts";
import { answer, type Clinic, type Handler, makeRequest } from "./clinic.ts";
import { requireSameAnswer } from "./comparison.ts";
import { floor } from "./floor.ts";
import type { LocalPlatform } from "./local_platform.ts";
import { type Cost, type Meter, replaying } from "./metered_database.ts";
import type { Sent } from "./operations.ts";

/** What D1 is away, in milliseconds. */
export const ROUND_TRIP_TIME = 30;

export interface Figures extends Cost {
  median: number;
  p99: number;
  /** Milliseconds of CPU for a request, D1's answers given. */
  cpu: number;
}

export interface Measured {
  operation: string;
  ours: Figures;
  floor: Figures;
}

export interface Bench {
  platform: LocalPlatform;
  meter: Meter;
  env: Env;
}

/** How often: requests for latency, and for CPU in all and in a block. */
export interface Effort {
  latency: number;
  cpu: number;
  cpu_block: number;
}

const contenders = { ours: app.fetch as Handler, floor: floor as Handler };

type Contender = keyof typeof contenders;

const NAMES: Contender[] = ["ours", "floor"];

export async function measure(
  bench: Bench,
  clinic: Clinic,
  operation: string,
  example: (clinic: Clinic) => Sent | Promise<Sent>,
  effort: Effort,
): Promise<Measured> {
  const { ours, floor } = await costs(bench, clinic, operation, example);
  const latencies = await latenciesOf(bench, clinic, operation, example, effort.latency);
  const cpu = effort.cpu > 0 ? await cpuOf(bench, clinic, operation, example, effort) : { ours: 0, floor: 0 };
  return {
    operation,
    ours: { ...ours, ...spread(latencies.ours), cpu: cpu.ours },
    floor: { ...floor, ...spread(latencies.floor), cpu: cpu.floor },
  };
}

function toRequest(operation: string, { path, body }: Sent, clinic: Clinic): Request {
  const [method = ""] = operation.split(" ");
  return makeRequest(method, `/api/external${path}`, clinic.credentials, body);
}

/**
 * Counts of one request each, whose answers are compared. One goes ahead uncounted: it makes the client known, and the
 * row of a total that the first write of its kind adds.
 */
async function costs(
  bench: Bench,
  clinic: Clinic,
  operation: string,
  example: (clinic: Clinic) => Sent | Promise<Sent>,
) {
  const answers: Response[] = [];
  const counted = { ours: {} as Cost, floor: {} as Cost };
  for (const name of NAMES) {
    await answer(contenders[name], toRequest(operation, await example(clinic), clinic), bench.env);
    const request = toRequest(operation, await example(clinic), clinic);
    bench.meter.reset();
    answers.push(await answer(contenders[name], request, bench.env));
    counted[name] = { ...bench.meter.cost };
  }
  await requireSameAnswer(operation, answers[0] as Response, answers[1] as Response);
  return counted;
}

/** By turns, and who goes first by turns too. */
async function latenciesOf(
  { meter, env }: Bench,
  clinic: Clinic,
  operation: string,
  example: (clinic: Clinic) => Sent | Promise<Sent>,
  times: number,
) {
  const latencies: Record<Contender, number[]> = { ours: [], floor: [] };
  for (let turn = 0; turn < times; turn++) {
    for (const name of turn % 2 ? NAMES : NAMES.toReversed()) {
      const request = toRequest(operation, await example(clinic), clinic);
      meter.reset();
      meter.round_trip_time = ROUND_TRIP_TIME;
      const started = performance.now();
      const response = await answer(contenders[name], request, env);
      await response.arrayBuffer();
      latencies[name].push(performance.now() - started - meter.overrun);
      meter.round_trip_time = 0;
      if (response.status >= 300) throw new Error(`${operation} answered ${response.status} (${name})`);
    }
  }
  return latencies;
}

/**
 * CPU over many requests, in blocks by turns, with D1's answers from memory: neither the local D1's proxy nor Node's
 * making of requests is in it.
 */
async function cpuOf(
  { platform, meter, env }: Bench,
  clinic: Clinic,
  operation: string,
  example: (clinic: Clinic) => Sent | Promise<Sent>,
  { cpu: times, cpu_block }: Effort,
): Promise<Record<Contender, number>> {
  const replayed = {} as Record<Contender, { env: Env; sent: Sent }>;
  for (const name of NAMES) {
    const sent = await example(clinic);
    meter.reset();
    await answer(contenders[name], toRequest(operation, sent, clinic), env);
    replayed[name] = { env: platform.envWith(replaying([...meter.answers])), sent };
  }
  const used: Record<Contender, number[]> = { ours: [], floor: [] };
  const blocks = Math.ceil(times / cpu_block);
  // The first blocks warm up: V8 has compiled by then.
  const warmUp = Math.ceil(blocks / 4);
  for (let block = -warmUp; block < blocks; block++) {
    for (const name of NAMES) {
      const { env, sent } = replayed[name];
      const requests = Array.from({ length: cpu_block }, () => toRequest(operation, sent, clinic));
      const before = process.cpuUsage();
      for (const request of requests) {
        const { status } = await answer(contenders[name], request, env);
        if (status >= 300) throw new Error(`${operation} answered ${status} (${name}) from memory`);
      }
      const { user, system } = process.cpuUsage(before);
      if (block >= 0) used[name].push((user + system) / 1000 / cpu_block);
    }
  }
  return { ours: quantile(used.ours, 0.5), floor: quantile(used.floor, 0.5) };
}

const spread = (values: number[]) => ({ median: quantile(values, 0.5), p99: quantile(values, 0.99) });

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

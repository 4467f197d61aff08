/** What a request costs, each contender's by turns. */
import { answer, type Clinic, makeRequest } from "./clinic.ts";
import { requireSameAnswer } from "./comparison.ts";
import type { Contender } from "./contenders.ts";
import { cpuOf } from "./cpu.ts";
import type { Sent } from "./example_parts.ts";
import { type LocalPlatform, PLATFORM_TOKEN } from "./local_platform.ts";
import type { Cost, Meter } from "./metered_database.ts";
import type { Operation } from "./operations.ts";

/** What D1 is away, in milliseconds. */
export const ROUND_TRIP_TIME = 30;

export interface Figures extends Cost {
  median: number;
  p99: number;
  /** Milliseconds of CPU for a request, without D1's: the mean of each block, in the order of the turns. */
  cpu: number[];
}

/** The figures of those contenders that serve the operation. */
export interface Measured {
  operation: string;
  door: Operation["door"];
  ours: Figures;
  floor?: Figures;
  before?: Figures;
}

export interface Bench {
  platform: LocalPlatform;
  meter: Meter;
  env: Env;
  contenders: Contender[];
  /** Operations whose answers are meant to differ from those before. */
  changed: string[];
}

/** How often: requests for latency, blocks of requests for CPU, and requests in a block. */
export interface Effort {
  latency: number;
  cpu_blocks: number;
  cpu_block: number;
}

export async function measure(
  bench: Bench,
  clinic: Clinic,
  operation: Operation,
  effort: Effort,
): Promise<Measured> {
  const contenders = bench.contenders.filter((contender) => contender.serves(operation));
  const counts = await costs(bench, contenders, clinic, operation);
  const latencies = await latenciesOf(bench, contenders, clinic, operation, effort.latency);
  const cpu = await cpuOf(bench, contenders, clinic, operation, effort);
  const figures = contenders.map(({ name }, n) => {
    const latency = latencies[n] ?? [];
    const spread = { median: quantile(latency, 0.5), p99: quantile(latency, 0.99) };
    return [name, { ...counts[n], ...spread, cpu: cpu[n] ?? [] }];
  });
  return { operation: operation.name, door: operation.door, ...Object.fromEntries(figures) };
}

export function toRequest({ name, door }: Operation, { path, body }: Sent, clinic: Clinic): Request {
  const [method = ""] = name.split(" ");
  const headers = door === "platform" ? { Authorization: `Bearer ${PLATFORM_TOKEN}` } : clinic.credentials;
  return makeRequest(method, `/api/${door}${path}`, headers, body);
}

/** Their positions, in an order that changes with the turn: going first may be an advantage. */
export const inTurn = (contenders: Contender[], turn: number) =>
  contenders.map((_, n) => (n + turn) % contenders.length);

/**
 * Counts of one request each, whose answers are compared. One goes ahead uncounted: it makes the client known, and the
 * row of a total that the first write of its kind adds.
 */
async function costs(
  { meter, env, changed }: Bench,
  contenders: Contender[],
  clinic: Clinic,
  operation: Operation,
): Promise<Cost[]> {
  const answers: Response[] = [];
  const counted: Cost[] = [];
  for (const { handler } of contenders) {
    await answer(handler, toRequest(operation, await operation.example(clinic), clinic), env);
    const request = toRequest(operation, await operation.example(clinic), clinic);
    meter.reset();
    answers.push(await answer(handler, request, env));
    counted.push({ ...meter.cost });
  }
  const [ours, ...others] = contenders.map(({ name }, n) => ({ name, response: answers[n] as Response }));
  if (ours)
    await requireSameAnswer(
      operation.name,
      ours,
      others.filter(({ name }) => name !== "before" || !changed.includes(operation.name)),
    );
  return counted;
}

async function latenciesOf(
  { meter, env }: Bench,
  contenders: Contender[],
  clinic: Clinic,
  operation: Operation,
  times: number,
): Promise<number[][]> {
  const latencies: number[][] = contenders.map(() => []);
  for (let turn = 0; turn < times; turn++) {
    for (const n of inTurn(contenders, turn)) {
      const { handler, name } = contenders[n] as Contender;
      const request = toRequest(operation, await operation.example(clinic), clinic);
      meter.reset();
      meter.round_trip_time = ROUND_TRIP_TIME;
      const started = performance.now();
      const response = await answer(handler, request, env);
      await response.arrayBuffer();
      latencies[n]?.push(performance.now() - started - meter.overrun);
      meter.round_trip_time = 0;
      if (response.status >= 300) throw new Error(`${operation.name} answered ${response.status} (${name})`);
    }
  }
  return latencies;
}

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** Measures the cost of requests, of the service and of the code of another checkout in turns. */
import { app } from "../../src/app.ts";
import { platformCredentials } from "../project/support/clinic_in_node.ts";
import { answer, bindings, type Handler, makeRequest } from "../project/support/worker_in_node.ts";
import type { Example } from "../support/clinic.ts";
import type { BenchClinic } from "./clinic.ts";
import { type Meter, replay } from "./meter.ts";
import type { Operation } from "./operations.ts";

/** The simulated round trip to D1, in milliseconds. */
export const ROUND_TRIP_TIME = 30;

/** The number of requests for latency, of blocks of requests for CPU, and of requests in a block. */
export interface Effort {
  latency: number;
  cpu_blocks: number;
  cpu_block: number;
}

export interface Figures {
  round_trips: number;
  rows_read: number;
  rows_written: number;
  /** The milliseconds of each request. */
  latency: number[];
  /** The milliseconds of CPU for a request, without D1's: the mean of each block, in the order of the turns. */
  cpu: number[];
}

export interface Measured {
  name: string;
  ours: Figures;
  other: Figures | undefined;
}

export interface Bench {
  meter: Meter;
  clinic: BenchClinic;
}

/** @param other is measured in turns with the service */
export async function measure(
  bench: Bench,
  operation: Operation,
  other: Handler | undefined,
  effort: Effort,
): Promise<Measured> {
  const first = await aContender(bench, operation, app.fetch as Handler);
  const second = other && (await aContender(bench, operation, other));
  const contenders = second ? [first, second] : [first];
  for (let turn = 0; turn < effort.latency; turn++)
    for (const { figures, latency } of inTurn(contenders, turn)) figures.latency.push(await latency());
  // The first blocks are a warm-up, in which V8 compiles the code.
  const warmUp = Math.ceil(effort.cpu_blocks / 4);
  for (let turn = -warmUp; turn < effort.cpu_blocks; turn++)
    for (const { figures, cpu } of inTurn(contenders, turn + warmUp)) {
      const used = await cpu(effort.cpu_block);
      if (turn >= 0) figures.cpu.push(used);
    }
  return { name: operation.name, ours: first.figures, other: second?.figures };
}

/** The order changes with the turn, because going first may be an advantage. */
const inTurn = <Each>(each: Each[], turn: number) => (turn % 2 === 0 ? each : each.toReversed());

/**
 * A handler whose first request is counted and recorded. An uncounted request goes before it: it makes the client
 * known, and adds the rows that only the first write of its kind adds.
 */
async function aContender({ meter, clinic }: Bench, operation: Operation, handler: Handler) {
  const env = bindings(meter.binding);
  const send = async (request: Request, answeredFrom = env) => {
    const response = await answer(handler, request, answeredFrom);
    if (response.status >= 300)
      throw new Error(`${operation.name}: ${response.status} ${await response.text()}`);
    return response;
  };
  await send(toRequest(operation, await operation.example(clinic), clinic));
  const example = await operation.example(clinic);
  meter.reset();
  await send(toRequest(operation, example, clinic));
  const { answers, overrun, ...counts } = meter.used;
  const replayed = replay([...answers]);
  const replaying = bindings(replayed.binding);
  return {
    figures: { ...counts, latency: [], cpu: [] } as Figures,

    async latency(): Promise<number> {
      const request = toRequest(operation, await operation.example(clinic), clinic);
      meter.reset();
      meter.round_trip_time = ROUND_TRIP_TIME;
      const started = performance.now();
      await (await send(request)).arrayBuffer();
      const took = performance.now() - started - meter.used.overrun;
      meter.round_trip_time = 0;
      return took;
    },

    /**
     * The milliseconds of CPU for one request, from a block of equal ones. D1's answers come from memory: neither the
     * local D1's proxy nor making requests in Node is counted.
     */
    async cpu(block: number): Promise<number> {
      const requests = Array.from({ length: block }, () => toRequest(operation, example, clinic));
      replayed.expect(block);
      const before = process.cpuUsage();
      for (const request of requests) await send(request, replaying);
      const { user, system } = process.cpuUsage(before);
      replayed.requireAllAsked();
      return (user + system) / 1000 / block;
    },
  };
}

function toRequest({ name }: Operation, { path, body }: Example, { credentials }: BenchClinic): Request {
  const [method = "", , , api] = name.split(/[ /]/);
  const headers = api === "platform" ? platformCredentials : credentials;
  return makeRequest(method, `/api/${api}${path}`, headers, body);
}

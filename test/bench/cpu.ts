/** CPU for a request, without D1's. */
import { answer, type Clinic } from "./clinic.ts";
import type { Contender } from "./contenders.ts";
import type { Sent } from "./example_parts.ts";
import { type Bench, type Effort, inTurn, toRequest } from "./measurement.ts";
import { type Replay, replay } from "./metered_database.ts";
import type { Operation } from "./operations.ts";

interface Recorded {
  contender: Contender;
  sent: Sent;
  replayed: Replay;
  env: Env;
}

/**
 * Blocks of the same request by turns, with D1's answers from memory: neither the local D1's proxy nor the making of
 * requests in Node is counted. What each contender asks of D1 is recorded by itself, so that one may ask it once and
 * another twice.
 *
 * @returns for each contender the mean of each of its blocks, in milliseconds
 */
export async function cpuOf(
  bench: Bench,
  contenders: Contender[],
  clinic: Clinic,
  operation: Operation,
  { cpu_blocks, cpu_block }: Effort,
): Promise<number[][]> {
  const used: number[][] = contenders.map(() => []);
  if (cpu_blocks === 0) return used;
  const recorded: Recorded[] = [];
  for (const contender of contenders) recorded.push(await record(bench, contender, clinic, operation));
  // The first blocks warm up: after them V8 has compiled the code.
  const warmUp = Math.ceil(cpu_blocks / 4);
  for (let turn = -warmUp; turn < cpu_blocks; turn++) {
    for (const n of inTurn(contenders, turn + warmUp)) {
      const cpu = await cpuOfBlock(recorded[n] as Recorded, clinic, operation, cpu_block);
      if (turn >= 0) used[n]?.push(cpu);
    }
  }
  return used;
}

async function record(
  { platform, meter, env }: Bench,
  contender: Contender,
  clinic: Clinic,
  operation: Operation,
): Promise<Recorded> {
  const sent = await operation.example(clinic);
  meter.reset();
  await answer(contender.handler, toRequest(operation, sent, clinic), env);
  const replayed = replay([...meter.answers]);
  return { contender, sent, replayed, env: platform.envWith(replayed.binding) };
}

async function cpuOfBlock(
  { contender, sent, replayed, env }: Recorded,
  clinic: Clinic,
  operation: Operation,
  size: number,
): Promise<number> {
  const requests = Array.from({ length: size }, () => toRequest(operation, sent, clinic));
  replayed.expect(size);
  const before = process.cpuUsage();
  for (const request of requests) {
    const { status } = await answer(contender.handler, request, env);
    if (status >= 300)
      throw new Error(`${operation.name} answered ${status} (${contender.name}) from memory`);
  }
  const { user, system } = process.cpuUsage(before);
  replayed.requireAllAsked();
  return (user + system) / 1000 / size;
}

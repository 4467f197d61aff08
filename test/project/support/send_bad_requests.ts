/**
 * Sends bad requests to the routes of all APIs, and fails at the first wrong answer:
 * `node send_bad_requests.ts <number> [seed]`.
 */
import { Chance } from "../../support/chance.ts";
import type { MakeExample } from "../../support/clinic.ts";
import { type Draft, mutated } from "./bad_requests.ts";
import { exampleFor } from "./documented_examples.ts";
import { documentedOperations, nodesOf } from "./request_schemas.ts";
import { isRefusal, type Outcome, openService } from "./service_in_memory.ts";
import { makeRequest } from "./worker_in_node.ts";

const [count = 1000, seed = 20_261_117] = process.argv.slice(2).map(Number);

/** In bytes: the memory that may stay in use. A little is cached, but not for each request. */
const MAX_GROWTH = 8_000_000;

/** After this many requests, a new service starts: a service with many rows is slower, and finds no more faults. */
const REQUESTS_OF_ONE_SERVICE = 2000;

/** Every operation. An operation that reports something by its key also comes a second time, after the same request. */
const operations = documentedOperations.flatMap((operation) => {
  const example = exampleFor(operation);
  const repeated: MakeExample = async (clinic) => {
    const sent = await example(clinic);
    await clinic.platform("PUT", sent.path, sent.body);
    return sent;
  };
  const isReport = operation.api === "platform" && operation.method === "PUT";
  return [{ operation, example }, ...(isReport ? [{ operation, example: repeated }] : [])];
});
type Source = (typeof operations)[number];

const chance = new Chance(seed);
let service = await openService();
const drafts = new Map<Source, Draft>();
const statuses: Record<number, number> = {};
const heap: number[] = [];

for (let n = 1; n <= count; n++) {
  const source = chance.pick(operations);
  const draft =
    drafts.get(source) ?? (await draftOf(source).catch((error) => draftOfNewService(source, error)));
  const { text, ...request } = mutated(draft, chance);
  const body = text ?? JSON.stringify(request.body);
  const canHaveBody = !/^(get|head)$/i.test(request.method);
  const path = `/api/${source.operation.api}${request.path}`;
  const outcome = await service.send(
    makeRequest(request.method, path, request.headers, canHaveBody ? body : undefined),
  );
  const fault = faultOf(request.method, outcome);
  if (fault) {
    const said = JSON.stringify({ ...request, body, fields: undefined }).slice(0, 3000);
    process.stderr.write(`Request ${n} of seed ${seed}: ${fault}\n${said}\n${outcome.status} `);
    process.stderr.write(`${outcome.text.slice(0, 1000)}\n${outcome.faults.join("\n")}\n`);
    process.exit(1);
  }
  // The request may have used up the resource that it was about.
  if (outcome.changes > 0) drafts.delete(source);
  else drafts.set(source, draft);
  statuses[outcome.status] = (statuses[outcome.status] ?? 0) + 1;
  if (n % REQUESTS_OF_ONE_SERVICE === 0) await startService();
  if (n === Math.floor(count / 2) || n === count) heap.push(usedHeap());
}
const [halfway = 0, end = 0] = heap;
if (end - halfway > MAX_GROWTH)
  throw new Error(`The second half of the requests took ${end - halfway} bytes for good`);
process.stdout.write(`${JSON.stringify(statuses)}\n`);
process.exit(0);

async function startService() {
  service = await openService();
  drafts.clear();
}

/** Makes the draft with a new service, because a bad request may have deleted what the examples need, such as a room. */
async function draftOfNewService(source: Source, error: Error): Promise<Draft> {
  if (!/^Set-up failed: .* 404 /.test(error.message)) throw error;
  await startService();
  return draftOf(source);
}

async function draftOf({ operation: { api, method, body: documented }, example }: Source): Promise<Draft> {
  const { path, body } = await example(service.clinic);
  // The path to a value in the first element of each list.
  const fields = documented
    ? nodesOf(documented.schema).map((node) => node.path.map((name) => (name === "*" ? "0" : name)))
    : [[]];
  return { method, path, headers: service.credentials[api], body, fields };
}

function faultOf(method: string, { status, text, changes }: Outcome): string | undefined {
  if (status >= 500) return "A fault of the service";
  if (status < 400) return;
  if (changes > 0) return `A refused request changed ${changes} rows`;
  if (method.toUpperCase() !== "HEAD" && !isRefusal(text)) return "Not the shape of a refusal";
}

function usedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

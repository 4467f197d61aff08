/**
 * Sends bad requests to the routes of all APIs, and fails at the first wrong answer:
 * `node send_bad_requests.ts <number> [seed]`.
 */
import fc from "fast-check";
import type { MakeExample } from "../../support/clinic.ts";
import { type Draft, mutated, mutations, type Sent } from "./bad_requests.ts";
import { exampleFor } from "./documented_examples.ts";
import { documentedOperations, nodesOf } from "./request_schemas.ts";
import { isRefusal, type Outcome, openService } from "./service_in_memory.ts";
import { ORIGIN } from "./worker_in_node.ts";

const [numRuns = 1000, seed = 20_261_117] = process.argv.slice(2).map(Number);

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

let service = await openService();
const drafts = new Map<number, Draft>();
const statuses = new Map<number, number>();
const heap: number[] = [];
let sent = 0;

await fc
  .assert(
    fc.asyncProperty(fc.nat(operations.length - 1), mutations, async (n, changes) => {
      if (sent > 0 && sent % REQUESTS_OF_ONE_SERVICE === 0) {
        service = await openService();
        drafts.clear();
      }
      const { api } = (operations[n] as (typeof operations)[number]).operation;
      const draft = drafts.get(n) ?? (await draftOf(n).catch((error) => draftOfNewService(n, error)));
      const request = mutated(draft, changes);
      const outcome = await service.send(toRequest(`/api/${api}`, request));
      requireGoodAnswer(request, outcome);
      // The request may have used up the resource that it was about.
      if (outcome.changes > 0) drafts.delete(n);
      else drafts.set(n, draft);
      statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
      if (++sent === Math.floor(numRuns / 2) || sent === numRuns) heap.push(usedHeap());
    }),
    { numRuns, seed, endOnFailure: true },
  )
  .catch(({ message, cause }) => {
    // Prints the request and the seed. The generators that fast-check prints say nothing about the request.
    process.stderr.write(`${cause?.message ?? message}\n${/\{ seed.*\}/.exec(message)?.[0]}\n`);
    process.exit(1);
  });
const [halfway = 0, end = 0] = heap;
if (end - halfway > MAX_GROWTH)
  throw new Error(`The second half of the requests took ${end - halfway} bytes for good`);
process.stdout.write(`${JSON.stringify(Object.fromEntries([...statuses].sort()))}\n`);
process.exit(0);

/**
 * Makes the draft with a new service, because a bad request may have deleted what the examples need, such as a room.
 */
async function draftOfNewService(n: number, error: Error): Promise<Draft> {
  if (!/^Set-up failed: .* 404 /.test(error.message)) throw error;
  service = await openService();
  drafts.clear();
  return draftOf(n);
}

async function draftOf(n: number): Promise<Draft> {
  const { operation, example } = operations[n] as (typeof operations)[number];
  const { api, method, body: documented } = operation;
  const { path, body } = await example(service.clinic);
  // The path to a value in the first element of each list.
  const fields = documented
    ? nodesOf(documented.schema).map((node) => node.path.map((name) => (name === "*" ? "0" : name)))
    : [[]];
  const headers = { ...service.credentials[api], ...(body ? { "Content-Type": "application/json" } : {}) };
  return { method, path, headers, body, fields, asText: (json) => json };
}

function toRequest(base: string, { method, path, headers, body }: Sent): Request {
  const hasBody = body !== undefined && !/^(get|head)$/i.test(method);
  const length: Record<string, string> = hasBody ? { "Content-Length": String(Buffer.byteLength(body)) } : {};
  return new Request(`${ORIGIN}${base}${path}`, {
    method,
    headers: { ...headers, ...length },
    ...(hasBody ? { body } : {}),
  });
}

function requireGoodAnswer(request: Sent, { status, text, changes, faults }: Outcome) {
  const fail = (what: string) => {
    throw new Error(
      `${what}\n${JSON.stringify(request).slice(0, 3000)}\n${status} ${text.slice(0, 1000)}\n${faults.join("\n")}`,
    );
  };
  if (status >= 500) fail("A fault of the service");
  if (status < 400) return;
  if (changes > 0) fail(`A refused request changed ${changes} rows`);
  if (request.method.toUpperCase() === "HEAD") return;
  if (!isRefusal(text)) fail("Not the shape of a refusal");
}

function usedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/**
 * Sends hostile bodies to every route that accepts a body, and fails with the wrong answers. Runs with little memory.
 */
import { faultyBodies, misshapenBodies } from "./hostile_bodies.ts";
import { documentedOperations, type Operation } from "./request_schemas.ts";
import { isRefusal, openService } from "./service_in_memory.ts";
import { makeRequest } from "./worker_in_node.ts";

const service = await openService();
const problems: string[] = [];
let sent = 0;
/** The limits for which misshapen bodies were sent. All routes with the same limit treat these bodies alike. */
const limits = new Set<number>();

for (const operation of documentedOperations) {
  const { api, method, path, body } = operation;
  if (!body) continue;
  const limit = await bodyLimitOf(operation);
  for (const { what, text } of hostileBodies(body, limit)) {
    // After a crash, this is the last line.
    process.stdout.write(`${method} /api/${api}${path}: ${what}\n`);
    const outcome = await send(operation, text);
    const said = `${method} /api/${api}${path}: ${what} (${Buffer.byteLength(text)} bytes) answered ${outcome.status} ${outcome.text.slice(0, 300)}`;
    if (outcome.status >= 500) problems.push(`${said} ${JSON.stringify(outcome.faults).slice(0, 500)}`);
    if (outcome.status >= 400 && (!isRefusal(outcome.text) || outcome.changes > 0))
      problems.push(`${said}, and changed ${outcome.changes} rows`);
    sent++;
  }
}
process.stdout.write(`${sent} bodies\n`);
for (const problem of problems.slice(0, 20)) process.stderr.write(`${problem}\n`);
process.exit(problems.length > 0 ? 1 : 0);

function* hostileBodies({ schema, example }: NonNullable<Operation["body"]>, limit: number) {
  if (!limits.has(limit)) yield* misshapenBodies(example, limit);
  limits.add(limit);
  yield* faultyBodies(schema, example, limit);
}

/** In bytes, from the refusal of a body that is too large. */
async function bodyLimitOf(operation: Operation): Promise<number> {
  const { text } = await send(operation, " ".repeat(5 * 1024 * 1024));
  const [, limit] = /larger than ([\d,]+) bytes/.exec(text) ?? [];
  if (!limit) throw new Error(`${operation.path} has no limit: ${text}`);
  return Number(limit.replaceAll(",", ""));
}

function send({ api, method, path }: Operation, text: string) {
  const concrete = path.replace(/\{(\w*key|egress_id)\}/g, "hostile").replace(/\{\w+\}/g, "1");
  return service.send(makeRequest(method, `/api/${api}${concrete}`, service.credentials[api], text));
}

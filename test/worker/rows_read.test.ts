import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type Grown, growCalls, growEverythingElse, growOrganizations, type Run } from "../support/grown.ts";
import { type Answer, platform } from "./support/api.ts";
import { aLiveKitServer } from "./support/livekit.ts";
import { anOrganization, type Organization } from "./support/organization.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { externalExamples, liveKitExamples, platformExamples } from "./support/routes.ts";
import { countingRows } from "./support/rows.ts";
import { aSealedDay } from "./support/seals.ts";

const SIZE = 10_000;
const run: Run = (statement, ...values) =>
  env.DB.prepare(statement)
    .bind(...values)
    .run();

const counting = countingRows();

async function operationsOf(organization: Organization) {
  const costs = new Map<string, { rows_read: number; shown: number }>();
  const client = organization.client.through(counting.fetcher);
  const server = aLiveKitServer({ fetcher: counting.fetcher });
  const count = async (name: string, send: () => Promise<Answer>) => {
    const { result, rows_read } = await counting.during(send);
    if (result.status >= 300) throw new Error(`${name}: ${result.status} ${JSON.stringify(result.body)}`);
    costs.set(name, { rows_read, shown: shownIn(result.body) });
  };
  const known = await client.get("/roles");
  expect(known.status).toBe(200);
  for (const [route, example] of Object.entries(externalExamples)) {
    const { path, body } = await example(organization);
    const [method = ""] = route.split(" ");
    await count(`external ${route}`, () => client.send(method, path, body));
  }
  for (const [route, example] of Object.entries(platformExamples)) {
    const { path, body } = await example(organization);
    const [method = ""] = route.split(" ");
    await count(`platform ${route}`, () => platform.through(counting.fetcher).send(method, path, body));
  }
  for (const [route, example] of Object.entries(liveKitExamples)) {
    const { body } = await example(organization);
    await count(`livekit ${route}`, () => server.send(JSON.stringify(body)));
  }
  return costs;
}

const shownIn = (body: unknown): number =>
  Object.values(body ?? {})
    .filter(Array.isArray)
    .reduce((sum, list) => sum + list.length, 0);

async function grownOf(organization: Organization): Promise<Grown> {
  const provider = await organization.addProvider();
  const room = await organization.addRoom();
  return {
    id: organization.id,
    user_id: organization.admin.id,
    client_id: organization.client.id,
    provider_id: provider.id,
    room_id: room.id,
    slug: organization.slug,
  };
}

it("reads as many rows", async () => {
  const small = await anOrganization();
  const before = await operationsOf(small);
  const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
  await runCron();
  await runCron();
  const cronBefore = (await counting.during(() => runCron())).rows_read;
  const [neighbour, clinic] = [await anOrganization(), await anOrganization()];
  const started = Date.now();
  for (const each of [neighbour, clinic]) {
    const grown = await grownOf(each);
    await aSealedDay(each);
    await growCalls(run, grown, SIZE, started);
    await growEverythingElse(run, grown, SIZE, started);
  }
  await growOrganizations(run, SIZE);
  console.warn("grown in", Date.now() - started);
  await runCron();
  const cronAfter = (await counting.during(() => runCron())).rows_read;
  console.warn("cron", cronBefore, cronAfter);
  const after = await operationsOf(clinic);
  const out: string[] = [`cron ${cronBefore} ${cronAfter}`];
  for (const [name, { rows_read, shown }] of after) {
    const known = before.get(name);
    if (known && rows_read > known.rows_read)
      out.push(`${name}: ${known.rows_read} -> ${rows_read}, shown ${known.shown} -> ${shown}`);
  }
  expect(out).toEqual([]);
});

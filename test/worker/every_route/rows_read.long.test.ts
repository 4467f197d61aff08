import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { EGRESSES_LOOKED_THROUGH, EVENTS_LOOKED_THROUGH, MAX_WAITING_ROOMS } from "../../../src/limits.ts";
import { PERSON_ENTRIES_LOOKED_THROUGH } from "../../../src/tuning.ts";
import { growOrganizations } from "../../support/grown.ts";
import { type Answer, platform } from "../support/api.ts";
import { aLiveKitServer } from "../support/livekit.ts";
import { anOrganization, type Organization } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { externalExamples, liveKitExamples, platformExamples } from "../support/routes.ts";
import { countingRows, grow, run } from "../support/rows.ts";
import { aSealedDay } from "../support/seals.ts";

/*
 * Every documented operation, and the cron, must read as few rows from a full database as from an almost empty one. The
 * full one has 10,000 rows in every table, for the caller's organization and for another one.
 */

const SIZE = 10_000;

/** Rows that an operation may read in addition for each item that it shows, because the item has more data. */
const FOR_EACH_SHOWN = 9;

/** Rows that may differ by chance, such as a free slug with a number. */
const SLACK = 8;

/** The cron asks which organizations may have something due: some rows for each chore and organization. */
const FOR_ORGANIZATIONS = 150;

/** Operations with another bound. */
const BOUNDED: Record<string, number> = {
  // Counts the rooms in an index.
  "external GET /waiting_rooms": MAX_WAITING_ROOMS,
  // Finds the last of them in an index, for this page and for the next one.
  "external GET /egresses": 2 * EGRESSES_LOOKED_THROUGH,
  // Searches the whole access log for a person, and finds the last entry of each portion.
  "external GET /participants/export": 2 * PERSON_ENTRIES_LOOKED_THROUGH,
  // Searches events, each of which has a delivery.
  "external POST /webhook_endpoints/:id/redeliver": 6 * EVENTS_LOOKED_THROUGH,
};

/** Tables that stay small in an organization. */
const SMALL_TABLES: Record<string, string> = {
  webhook_endpoints: "MAX_WEBHOOK_ENDPOINTS",
  moves: "a row for each move",
  participant_exports: "a row while an organization exports",
};

interface Cost {
  rows_read: number;
  /** Items in the lists of the response. */
  shown: number;
}

const counting = countingRows();

const shownIn = (body: unknown): number =>
  Object.values(body ?? {})
    .filter(Array.isArray)
    .reduce((sum, list) => sum + list.length, 0);

async function costsOf(organization: Organization): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const client = organization.client.through(counting.fetcher);
  await client.get("/roles");
  const senders = {
    external: [externalExamples, client.send],
    platform: [platformExamples, platform.through(counting.fetcher).send],
    livekit: [
      liveKitExamples,
      (_method: string, _path: string, body: unknown) =>
        aLiveKitServer({ fetcher: counting.fetcher }).send(JSON.stringify(body)),
    ],
  } as const;
  for (const [api, [examples, send]] of Object.entries(senders))
    for (const [route, example] of Object.entries(examples)) {
      const { path, body } = await example(organization);
      const [method = ""] = route.split(" ");
      const { result, rows_read } = await counting.during<Answer>(() => send(method, path, body));
      if (result.status >= 300) throw new Error(`${route}: ${result.status} ${JSON.stringify(result.body)}`);
      costs.set(`${api} ${route}`, { rows_read, shown: shownIn(result.body) });
    }
  return costs;
}

/** The rows that a run of the cron reads when nothing is due. */
async function costOfCron(): Promise<number> {
  const { runCron } = workerWith({ DB: counting.DB });
  await runCron();
  await runCron();
  return (await counting.during(() => runCron())).rows_read;
}

const organizations: Organization[] = [];
let small: Map<string, Cost>;
let large: Map<string, Cost>;
let crons: { small: number; large: number };

const OPERATIONS = [
  ...Object.keys(externalExamples).map((route) => `external ${route}`),
  ...Object.keys(platformExamples).map((route) => `platform ${route}`),
  ...Object.keys(liveKitExamples).map((route) => `livekit ${route}`),
];

beforeAll(async () => {
  small = await costsOf(await anOrganization());
  const cronBefore = await costOfCron();
  for (let n = 0; n < 2; n++) {
    const organization = await anOrganization();
    const [provider, room] = [await organization.addProvider(), await organization.addRoom()];
    await aSealedDay(organization);
    await grow(organization, provider, room, SIZE);
    organizations.push(organization);
  }
  await growOrganizations(run, SIZE);
  crons = { small: cronBefore, large: await costOfCron() };
  large = await costsOf(organizations[0] as Organization);
});

describe(`With ${SIZE} more rows of the same and of another organization`, () => {
  it("every table has them", async () => {
    const { results } = await env.DB.prepare(
      `select tables.name from sqlite_master as tables, pragma_table_xinfo(tables.name) as columns
       where tables.type = 'table' and tables.name not glob '_cf_*' and columns.name = 'organization_id'`,
    ).all<{ name: string }>();
    const few: string[] = [];
    for (const { name } of results.filter((table) => !(table.name in SMALL_TABLES)))
      for (const { id } of organizations) {
        const count = await env.DB.prepare(`select count(*) as n from ${name} where organization_id = ?`)
          .bind(id)
          .first<number>("n");
        if (Number(count) < SIZE) few.push(`${name}: ${count}`);
      }
    expect(few, "Fill the table in test/support/grown.ts").toEqual([]);
  });

  it.each(OPERATIONS)("an operation reads no more rows than it shows: %s", (operation) => {
    const [before, after] = [small.get(operation), large.get(operation)];
    if (!before || !after) throw new Error(`${operation} was not counted`);
    const bound = before.rows_read + FOR_EACH_SHOWN * after.shown + SLACK + (BOUNDED[operation] ?? 0);
    expect(after.rows_read).toBeLessThanOrEqual(bound);
  });

  it("a run of the cron reads only rows that are due", () => {
    expect(crons.large).toBeLessThanOrEqual(crons.small + FOR_ORGANIZATIONS);
  });
});

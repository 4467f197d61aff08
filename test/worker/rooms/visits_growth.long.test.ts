import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { VISITS_LOOKED_THROUGH } from "../../../src/limits.ts";
import { digestOf } from "../support/database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { planVisit, type Visit } from "../support/visits.ts";

const SIZE = 100_000;
const PER_PAGE = 25;

/** The rows read for each visit shown: its row and index entry, participants, calls and room, and the caller's access. */
const BOUND = 20 * (PER_PAGE + 1);

/** The limit for a visit, with its index entries and its share of the metrics. */
const MAX_BYTES = 1500;

let clinic: Organization;
let provider: { id: number; user_id: number };
let bytes: number;

const sizeOfDatabase = async () => (await env.DB.prepare("select 1").all()).meta.size_after ?? 0;

beforeAll(async () => {
  clinic = await anOrganization();
  provider = await clinic.addProvider();
  const room = await clinic.addRoom();
  const before = await sizeOfDatabase();
  await insertMany(
    SIZE,
    `insert into visits (organization_id, waiting_room_id, organization_user_id, external_reference, status, starts_at,
       ends_at, last_participant_id, created_at, updated_at)
     select ?1, ?2, iif(n % 2, ?3, null), 'visit-' || (n / 10), iif(n % 100, 'ended', 'missed'), n * 600000,
       n * 600000 + 3600000, 2, n * 600000, n * 600000
     from counter`,
    clinic.id,
    room.id,
    provider.id,
  );
  for (const [number, role, name, reference] of [
    [1, "recipient", "Rita Recipient", "patient-4711"],
    [2, "provider", "Dr. Paula Provider", null],
  ] as const)
    await env.DB.prepare(
      `insert into people (organization_id, visit_id, number, role, display_name, external_reference, reference_digest,
         said, created_at, updated_at)
       select organization_id, id, ?2, ?3, ?4, ?5, ?6, 'display_name,role', created_at, updated_at
       from visits where organization_id = ?1`,
    )
      .bind(clinic.id, number, role, name, reference, reference && (await digestOf(reference)))
      .run();
  const events = "delete from events where organization_id = ? and type like 'visit.%'";
  await env.DB.prepare(events).bind(clinic.id).run();
  bytes = ((await sizeOfDatabase()) - before) / SIZE;
  await planVisit(clinic, room.slug, { organization_user_id: provider.id });
}, 60_000);

// Tests that compare every row would take a minute each.
afterAll(async () => {
  await env.DB.prepare("delete from people where organization_id = ?").bind(clinic.id).run();
  const visits = "delete from visits where organization_id = ? and external_reference glob 'visit-*'";
  await env.DB.prepare(visits).bind(clinic.id).run();
}, 60_000);

async function reading(path: string, reader: Pick<Organization["client"], "through"> = clinic.client) {
  const counting = countingRows();
  const client = reader.through(counting.fetcher);
  await given(client.get("/roles"));
  return counting.during(() => given(client.get(path)));
}

it.each([
  ["the first page", "", PER_PAGE],
  ["a page in the middle", "?after=30000000000.1", PER_PAGE],
  ["the visits of a day", "?from=1970-06-01&to=1970-06-01", PER_PAGE],
  ["nothing for a day without visits", "?from=1990-06-01&to=1990-06-01", 0],
  ["the visits of a status", "?status=missed", PER_PAGE],
  ["the only visit of a status", "?status=planned", 1],
  ["the visits of a holder", "?organization_user_id=HOLDER", PER_PAGE],
  ["the visits of a holder and a status", "?organization_user_id=HOLDER&status=planned", 1],
  ["nothing for a holder without visits", "?organization_user_id=ADMIN", 0],
  ["the visits with a reference", "?external_reference=visit-700", 10],
  ["nothing for an unknown reference", "?external_reference=visit", 0],
])(`GET /visits reads only %s of ${SIZE} visits`, async (_, query, shown) => {
  const path = `/visits${query.replace("HOLDER", String(provider.id)).replace("ADMIN", String(clinic.admin.id))}`;
  for (const client of [clinic.client, await clinic.addClient(provider.id)]) {
    const { result, rows_read } = await reading(path, client);
    expect(result.visits).toHaveLength(shown);
    expect(rows_read).toBeLessThanOrEqual(BOUND);
  }
});

async function pagesOf(client: Organization["client"], path: string): Promise<number[][]> {
  const pages: number[][] = [];
  let more = "";
  do {
    const { visits, next_after } = await given(client.get(path + more));
    pages.push(visits.map(({ id }: Visit) => id));
    more = next_after === null ? "" : `&after=${next_after}`;
  } while (more !== "");
  return pages;
}

const INSERT_VISITS = `insert into visits (organization_id, waiting_room_id, organization_user_id, external_reference, status, starts_at,
  ends_at, last_participant_id, created_at, updated_at)`;

it.each([
  ["", PER_PAGE],
  ["&status=ended", PER_PAGE],
  ["&status=missed", 0],
])(
  "GET /visits reads one visit of each provider, and those shown, for an assistant of many: %s",
  async (more, shown) => {
    const PROVIDERS = 300;
    const own = await anOrganization();
    const room = await own.addRoom();
    await insertMany(
      PROVIDERS,
      `insert into organization_users (organization_id, email, display_name, roles, created_at, updated_at)
     select ?1, n || '@assisted.example', 'Paula', '["provider"]', 1, 1 from counter`,
      own.id,
    );
    const ids =
      "select id from organization_users where organization_id = ? and email like '%@assisted.example'";
    const { results } = await env.DB.prepare(ids).bind(own.id).all<{ id: number }>();
    const assists = results.map(({ id }) => id);
    const assistant = await own.addUser("Ann", ["provider_assistant"], { assists });
    await insertMany(
      40 * PROVIDERS,
      `${INSERT_VISITS} select ?1, ?2, ?3 + n % ?4, null, 'ended', n * 60000, n * 60000 + 1, 0, 1, 1 from counter`,
      own.id,
      room.id,
      Math.min(...assists),
      PROVIDERS,
    );
    const client = await own.addClient(assistant.id);
    const { result, rows_read } = await reading(`/visits?from=1970-01-02${more}`, client);
    const inOrder = await given(own.client.get(`/visits?from=1970-01-02${more}`));
    expect(result).toEqual(inOrder);
    expect(result.visits).toHaveLength(shown);
    // For each provider, it reads the assistance, the user, and the next visit in an index, the table and the queue of next visits. The
    // entry of the access log, which names the visits shown, finds them in the same way once more.
    expect(rows_read).toBeLessThanOrEqual(2 * 6 * PROVIDERS + BOUND + shown);
  },
);

it("GET /visits and GET /calls do not read all rows with the same start again for an assistant", async () => {
  const SAME_TIME = 3000;
  const own = await anOrganization();
  const { id: room_id } = await own.addRoom();
  const paula = await own.addProvider("Paula");
  const assistant = await own.addUser("Ann", ["provider_assistant"], { assists: [paula.id] });
  const ids = [own.id, room_id, paula.id];
  await insertMany(
    SAME_TIME,
    `${INSERT_VISITS} select ?1, ?2, ?3, null, 'ended', 60000, 60001, 0, 1, 1 from counter`,
    ...ids,
  );
  await insertMany(
    SAME_TIME,
    `insert into calls (organization_id, key, waiting_room_id, organization_user_id, started_at, created_at, updated_at)
     select ?1, 'same-' || n, ?2, ?3, 60000, 1, 1 from counter`,
    ...ids,
  );
  const client = await own.addClient(assistant.id);
  for (const list of ["visits", "calls"]) {
    const { next_after } = await given(client.get(`/${list}?per_page=100`));
    const { result, rows_read } = await reading(`/${list}?after=${next_after}`, client);
    expect(result[list]).toHaveLength(PER_PAGE);
    expect(rows_read).toBeLessThanOrEqual(BOUND);
  }
});

it("GET /visits?external_reference looks through a limited number of visits per request", async () => {
  const own = await anOrganization();
  const [paula, peter] = [await own.addProvider("Paula"), await own.addProvider("Peter")];
  const { slug, id: room_id } = await own.addRoom();
  const plan = { organization_user_id: paula.id, external_reference: "popular" };
  const { id } = await planVisit(own, slug, plan);
  const others = 2 * VISITS_LOOKED_THROUGH;
  await insertMany(
    others,
    `${INSERT_VISITS} select ?1, ?2, ?3, 'popular', 'ended', n, n + 1, 0, 1, 1 from counter`,
    own.id,
    room_id,
    peter.id,
  );
  const client = await own.addClient(paula.id);
  for (const [who, query] of [
    [client, ""],
    [own.client, "&status=planned"],
    [own.client, `&organization_user_id=${paula.id}`],
  ] as const) {
    const path = `/visits?external_reference=popular${query}`;
    expect(await pagesOf(who, path)).toEqual([[], [], [id]]);
    // The page reads each visit in an index and in the table, and its holder. The entry of the access log, which names the visits shown,
    // reads the same once more. The position at which the request stops is found in the index.
    expect((await reading(path, who)).rows_read).toBeLessThanOrEqual(
      (3 + 3 + 1) * VISITS_LOOKED_THROUGH + 20,
    );
  }
  const all = await pagesOf(own.client, "/visits?external_reference=popular&per_page=100");
  expect(new Set(all.flat()).size).toBe(others + 1);
  expect(all.slice(0, -1).every((page) => page.length === 100)).toBe(true);
});

it(`A visit with two participants takes at most ${MAX_BYTES} bytes`, () => {
  expect(bytes).toBeGreaterThan(200);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { VISITS_LOOKED_THROUGH } from "../../../src/limits.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { planVisit, type Visit } from "../support/visits.ts";

const PER_PAGE = 25;

/** The rows read for each visit shown: its row and index entry, participants, calls and room, and the caller's access. */
const BOUND = 20 * (PER_PAGE + 1);

async function reading(path: string, reader: Pick<Organization["client"], "through">) {
  const counting = countingRows();
  const client = reader.through(counting.fetcher);
  await given(client.get("/roles"));
  return counting.during(() => given(client.get(path)));
}

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

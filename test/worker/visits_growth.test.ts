import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { countingRows, insertMany } from "./support/rows.ts";
import { aPlan, planVisit, redeem, tokenOfLink, type Visit } from "./support/visits.ts";

const SIZE = 100_000;
const PER_PAGE = 25;

/** Of each visit that is shown: the row and its place in an index, its participants, calls and room, and who may see it. */
const BOUND = 20 * (PER_PAGE + 1);

/** Rows, their indexes, and what of the metrics is theirs. */
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
  const participants = [
    {
      id: 1,
      role: "recipient",
      display_name: "Rita Recipient",
      user_id: null,
      external_reference: "patient-4711",
    },
    { id: 2, role: "provider", display_name: "Dr. Paula Provider", user_id: null, external_reference: null },
  ];
  await insertMany(
    SIZE,
    `insert into visits (organization_id, waiting_room_id, organization_user_id, external_reference, status, starts_at,
       ends_at, participants, last_participant_id, created_at, updated_at)
     select ?1, ?2, iif(n % 2, ?3, null), 'visit-' || (n / 10), iif(n % 100, 'ended', 'missed'), n * 600000,
       n * 600000 + 3600000, ?4, 2, n * 600000, n * 600000
     from counter`,
    clinic.id,
    room.id,
    provider.id,
    JSON.stringify(participants),
  );
  const events = "delete from events where organization_id = ? and type like 'visit.%'";
  await env.DB.prepare(events).bind(clinic.id).run();
  bytes = ((await sizeOfDatabase()) - before) / SIZE;
  await planVisit(clinic, room.slug, { organization_user_id: provider.id });
}, 60_000);

async function reading(path: string, reader: Pick<Organization["client"], "through"> = clinic.client) {
  const counting = countingRows();
  const client = reader.through(counting.fetcher);
  await given(client.get("/roles"));
  return counting.during(() => given(client.get(path)));
}

it.each([
  ["the first", "", PER_PAGE],
  ["those in the middle", "?after=30000000000.1", PER_PAGE],
  ["those of a day", "?from=1970-06-01&to=1970-06-01", PER_PAGE],
  ["those of a day without any", "?from=1990-06-01&to=1990-06-01", 0],
  ["those of a status", "?status=missed", PER_PAGE],
  ["those of a status that one has", "?status=planned", 1],
  ["those of a holder", "?organization_user_id=HOLDER", PER_PAGE],
  ["those of a holder and a status", "?organization_user_id=HOLDER&status=planned", 1],
  ["those of a holder who has none", "?organization_user_id=ADMIN", 0],
  ["those with a reference", "?external_reference=visit-700", 10],
  ["those with a reference that none has", "?external_reference=visit", 0],
])(`Of ${SIZE} visits are read only %s`, async (_, query, shown) => {
  const path = `/visits${query.replace("HOLDER", String(provider.id)).replace("ADMIN", String(clinic.admin.id))}`;
  for (const client of [clinic.client, await clinic.addClient(provider.id)]) {
    const { result, rows_read } = await reading(path, client);
    expect(result.visits).toHaveLength(shown);
    expect(rows_read).toBeLessThanOrEqual(BOUND);
  }
});

it("One is found by its id, planned, changed, cancelled and redeemed without reading others", async () => {
  const { fetcher, during } = countingRows();
  const client = clinic.client.through(fetcher);
  await given(client.get("/roles"));
  const { slug } = await clinic.addRoom();
  // Both are cancelled here: other tests count the planned ones.
  const own = await planVisit(clinic, slug);
  const path = `/visits/${own.id}`;
  let planned: Visit | undefined;
  for (const work of [
    () => client.get(path),
    async () => {
      const answer = await client.post("/visits", { visit: aPlan(slug) });
      planned = answer.body;
      return answer;
    },
    () => client.put(path, { visit: { external_reference: "visit-1" } }),
    () => client.delete(path),
    () => client.get("/visit_metrics?date_start=1970-06-01&date_end=1970-06-30"),
  ])
    expect((await during(() => given(work()))).rows_read).toBeLessThanOrEqual(100);
  await given(clinic.client.delete(`/visits/${planned?.id}`));
  expect((await redeem(tokenOfLink(own))).status).toBe(422);
});

it(`A visit with two participants takes at most ${MAX_BYTES} bytes`, () => {
  expect(bytes).toBeGreaterThan(200);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

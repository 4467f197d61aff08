import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { eventTypesOf } from "../../../src/database/enums.ts";
import { MAX_PAGE, MAX_SKIPPED } from "../../../src/limits.ts";
import { growOrganizations } from "../../support/grown.ts";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { documents } from "../support/contract.ts";
import { digestOf } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { aClinicWithMail, aMailWorker } from "../support/mails.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { countingRows, grow, insertMany, run } from "../support/rows.ts";

const SIZE = 10_000;
const PER_PAGE = 25;

const AUDIT_LOGS =
  "/organization_users/{organization_user_id}/calls/{call_id}/egresses/{egress_id}/audit_logs";

/** The rows that a first page may read, however long its list is, in addition to the rows that it counts. */
const BOUND = 4 * PER_PAGE + 10;

/** Lists that count their rows in an index. Triggers keep the totals of the others. */
const COUNTED = [
  "/organization_users",
  "/waiting_rooms",
  "/api_clients",
  "/organizations",
  "/organizations/{organization_id}/users",
  "/organizations/{organization_id}/api_clients",
  "/organizations/{organization_id}/issuers",
];

let clinic: Organization;
let room: { id: number };
let owner: { id: number };

/** An example of each list with pages, by its route. A list that is missing here fails its test. */
let paths: Record<string, string>;

let platformPaths: Record<string, string>;

/** Lists that are short by design: they have no pagination envelope, and show all items on one page unless a request asks for a part. */
const SHORT = [
  // One for each role.
  "/roles",
  // At most MAX_SUBS.
  "/waiting_rooms/{waiting_room_slug}/waiting_room_subs",
  // The recordings of one call.
  "/organization_users/{organization_user_id}/calls/{call_id}/egresses",
];

const routesWithPages = Object.entries(documents).flatMap(([base, document]) =>
  Object.entries(document.paths)
    .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === "page"))
    .filter(([route]) => !SHORT.includes(route))
    .map(([route]) => ({ base, route })),
);

/** Inserts invites of an organization, with different emails in one domain. */
const insertInvites = (
  { id }: { id: number },
  size: number,
  expires_at: number,
  domain: string,
  next_mail_at: number | null = null,
) =>
  insertMany(
    size,
    `insert into invites (organization_id, created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at, next_mail_at)
     select ?1, (select min(id) from organization_users where organization_id = ?1), n || '@' || ?3, 'Invitee', '["provider"]', ?2, n, n, ?4 from counter`,
    id,
    expires_at,
    domain,
    next_mail_at,
  );

beforeAll(async () => {
  clinic = await anOrganization();
  const { path, addEgress, ...call } = await aCall(clinic);
  room = call.room;
  owner = call.owner;
  const egress = await addEgress();
  await given(clinic.client.put("/organization", { organization: { name: "Grown Clinic" } }));
  await grow(clinic, owner, room, SIZE, "n * 60000");
  // A list without an index would also read the rows of the other organization.
  const other = await anOrganization();
  await grow(other, await other.addProvider(), await other.addRoom(), SIZE, "n * 60000");
  await growOrganizations(run, SIZE);
  await run(
    "update people set reference_digest = ? where organization_id = ? and external_reference = 'patient-700'",
    ...[await digestOf("patient-700"), clinic.id],
  );
  await insertMany(
    SIZE,
    `insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at)
     select ?1, ?2, 'read', ?3, n from counter`,
    ...[clinic.id, egress.id, clinic.admin.user_id],
  );
  paths = {
    "/organization_users": "/organization_users",
    "/api_clients": "/api_clients",
    "/waiting_rooms": "/waiting_rooms",
    "/invites": "/invites",
    [AUDIT_LOGS]: `${path}/egresses/${egress.id}/audit_logs`,
  };
  platformPaths = {
    "/organizations": "/organizations",
    "/organizations/{organization_id}/users": `/organizations/${clinic.id}/users`,
    "/organizations/{organization_id}/api_clients": `/organizations/${clinic.id}/api_clients`,
    "/organizations/{organization_id}/issuers": `/organizations/${clinic.id}/issuers`,
  };
});

async function reading(path: string, reader: Pick<Organization["client"], "through"> = clinic.client) {
  const counting = countingRows();
  const client = reader.through(counting.fetcher);
  await given(client.get("/roles"));
  return counting.during(() => given(client.get(path)));
}

function readingAsPlatform(path: string) {
  const counting = countingRows();
  return counting.during(() => given(platform.through(counting.fetcher).get(path)));
}

it.each([
  ["event=read", SIZE],
  ["event=update", 0],
  ["event=update&from=1970-01-01", 0],
])(
  `The first page of ${SIZE} audit log entries reads no more if they are filtered: %s`,
  async (query, total) => {
    const { result, rows_read } = await reading(`${paths[AUDIT_LOGS]}?${query}`);
    expect(result.pagination.total_count).toBe(total);
    expect(rows_read).toBeLessThanOrEqual(BOUND);
  },
);

describe(`The last page of a list of ${SIZE}`, () => {
  /**
   * A page reads the items that it skips, in an index or a table. Quotas limit these for waiting rooms
   * (MAX_WAITING_ROOMS), API clients (MAX_API_CLIENTS_EVER) and invites (MAX_UNUSED_INVITES), MAX_SKIPPED for all lists.
   */
  it.each(routesWithPages)("skips each item at most once: $route of $base", async ({ base, route }) => {
    const isExternal = base === "/api/external";
    const path = `${(isExternal ? paths : platformPaths)[route]}?per_page=100`;
    const read = isExternal ? reading : readingAsPlatform;
    const { total_pages, total_count } = (await read(path)).result.pagination;
    const counted = COUNTED.includes(route) ? total_count : 0;
    const last = await read(`${path}&page=${total_pages}`);
    expect(Object.values(last.result).find(Array.isArray)?.length).toBeGreaterThan(0);
    // The list of organizations reads the directory, and the organizations in this database.
    const lists = route === "/organizations" ? 2 : 1;
    expect(last.rows_read).toBeLessThanOrEqual(500 + lists * total_count + counted);
    const beyond = await read(`${path}&page=${MAX_PAGE}`);
    expect(beyond.rows_read).toBeLessThanOrEqual(20 + counted);
  });

  it("is refused after too many skipped items, but is empty past the end", async () => {
    const organization = await anOrganization();
    const { path, addEgress } = await aCall(organization);
    const egress = await addEgress();
    await insertMany(
      MAX_SKIPPED + 50,
      "insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at) select ?1, ?2, 'read', ?3, n from counter",
      organization.id,
      egress.id,
      organization.admin.user_id,
    );
    const page = (number: number) =>
      organization.client.get(`${path}/egresses/${egress.id}/audit_logs?per_page=100&page=${number}`);
    expect((await given(page(MAX_SKIPPED / 100))).audit_logs).toHaveLength(100);
    expectRefusal(await page(MAX_SKIPPED / 100 + 1), 400, /^page: must be at most 1,000$/);
    expect((await given(page(MAX_SKIPPED / 100 + 2))).audit_logs).toEqual([]);
  });
});

it(`Among ${SIZE} rooms, users or invites of an organization, one is found by a filter`, async () => {
  await clinic.addRoom({ name: "Closed", is_active: false });
  for (const path of [
    "/waiting_rooms?name=ROOM%207",
    `/waiting_rooms?id=${room.id}`,
    `/waiting_rooms?user_id=${owner.id}`,
    "/waiting_rooms?is_active=false",
    `/organization_users?email=${clinic.admin.email}`,
    "/organization_users?role=organization_admin",
    "/invites?email=1@unused.example",
  ]) {
    const { result, rows_read } = await reading(path);
    expect([path, result.pagination.total_count]).toEqual([path, 1]);
    expect(rows_read).toBeLessThanOrEqual(15);
  }
});

describe(`Among ${SIZE} calls`, () => {
  /** Each call is read in an index and the table, with its results. Calls of several owners are sorted in addition. */
  const SORTED = 8 * PER_PAGE;

  /** A merge reads each call in the index, the table and the queue of next calls, to show it, and for its results. */
  const MERGED = 13 * (PER_PAGE + 1) + 30;

  /** The lists of calls, and who reads them. */
  async function lists() {
    const assistant = await clinic.addUser("Al", ["provider_assistant"], { assists: [owner.id] });
    return [
      { path: `/organization_users/${owner.id}/calls`, client: clinic.client },
      { path: "/calls", client: clinic.client },
      { path: "/calls", client: await clinic.addClient(assistant.id) },
    ];
  }

  it.each([
    ["", SIZE],
    ["from=1970-01-02&to=1970-01-02", 1440],
    ["to=1970-01-03", 3 * 1440 - 1],
    ["from=1980-01-01&to=1980-01-31", 0],
    ["external_reference=visit-700", 10],
    ["external_reference=visit-700&from=1970-01-05&to=1970-01-05", 10],
    ["external_reference=visit", 0],
    ["participant_reference=patient-700", 10],
    ["participant_reference=patient-700&external_reference=visit-700", 10],
    ["participant_reference=patient-700&to=1970-01-01", 0],
  ])("calls are found without reading the others: ?%s", async (query, total) => {
    for (const { path, client } of await lists()) {
      if (query.startsWith("participant_reference") && path !== "/calls") continue;
      const { result, rows_read } = await reading(`${path}?${query}`, client);
      expect(result.calls).toHaveLength(Math.min(total, PER_PAGE));
      expect(result.next_after !== null).toBe(total > PER_PAGE);
      expect(rows_read).toBeLessThanOrEqual(client === clinic.client ? SORTED : MERGED);
    }
  });
});

it.each([
  ["", PER_PAGE],
  ["after=30000000000.1", PER_PAGE],
  ["from=1970-06-01&to=1970-06-01", 1],
  ["from=1930-06-01&to=1930-06-01", 0],
  ["status=missed", PER_PAGE],
  ["status=planned", 0],
  ["organization_user_id=HOLDER", PER_PAGE],
  ["organization_user_id=HOLDER&status=planned", 0],
  ["organization_user_id=ADMIN", 0],
  ["external_reference=visit-700", 10],
  ["external_reference=visit", 0],
])(`Among ${SIZE} visits, only those shown are read: ?%s`, async (query, shown) => {
  const path = `/visits?${query.replace("HOLDER", `${owner.id}`).replace("ADMIN", `${clinic.admin.id}`)}`;
  for (const client of [clinic.client, await clinic.addClient(owner.id)]) {
    const { result, rows_read } = await reading(path, client);
    expect(result.visits).toHaveLength(shown);
    // A visit, its participants, calls and room, and the caller's access.
    expect(rows_read).toBeLessThanOrEqual(20 * (PER_PAGE + 1));
  }
});

describe(`Among more than ${SIZE} events`, () => {
  const middle = () =>
    env.DB.prepare("select id from events where organization_id = ? order by id limit 1 offset ?")
      .bind(clinic.id, SIZE)
      .first("id");

  // One event of each further type in a family is read, to see that it is not the next.
  const OTHER_TYPES = eventTypesOf(["call.*"]).length - 1;

  it.each([
    ["after=MIDDLE", PER_PAGE, 0],
    ["type=call.ended&after=MIDDLE", PER_PAGE, 0],
    ["type=call.*&after=MIDDLE", PER_PAGE, OTHER_TYPES],
    ["per_page=100", 100, 0],
    ["type=organization.updated", 1, 1],
    ["type=egress.deleted", 0, 1],
    ["type=bulk_invite.*", 0, 1],
    ["after=999999999", 0, 1],
  ])("only the rows shown are read: %s", async (query, shown, others) => {
    const { result, rows_read } = await reading(`/events?${query.replace("MIDDLE", String(await middle()))}`);
    expect(result.events).toHaveLength(shown);
    expect(rows_read).toBeLessThanOrEqual(shown + others);
  });
});

it.each([
  ["status=active", 2, SIZE, 100],
  ["status=expired", 1, 100, SIZE],
])(
  "GET /invites reads the rows shown, plus each expired invite in an index, to count it and to skip it: %s, %i times",
  async (query, times, active, expired) => {
    const organization = await anOrganization();
    await insertInvites(organization, expired, Date.now() - 1, "expired.example");
    await insertInvites(organization, active, Date.now() + 3_600_000, "active.example");
    for (const page of [1, 4]) {
      const { result, rows_read } = await reading(`/invites?${query}&page=${page}`, organization.client);
      expect(result.pagination.total_count).toBe(SIZE);
      expect(rows_read).toBeLessThanOrEqual(BOUND + page * PER_PAGE + times * expired);
    }
  },
);

it("The platform's GET /invites reads the rows shown, and only an index for expired invites before them", async () => {
  const other = await anOrganization();
  const { id: after } = await other.addInvite();
  await insertInvites(other, SIZE, 1, "expired.example");
  await insertInvites(other, SIZE, Date.now() + 3_600_000, "active.example");
  const read = (query: string) => readingAsPlatform(`/invites?${query}`);
  const first = await read(`after=${after}&per_page=50`);
  expect(first.result.organization_invites).toHaveLength(50);
  // Each invite is read in the index and in the table, with the name of its organization.
  expect(first.rows_read).toBeLessThanOrEqual(SIZE + 3 * 50 + 1);
  const second = await read(`after=${first.result.next_after}&per_page=50`);
  expect(second.rows_read).toBeLessThanOrEqual(3 * 50 + 1);
});

it("Mailing an invite reads no more rows if many other mails are due later", async () => {
  const clinic = await aClinicWithMail();
  const rowsRead = async () => {
    const counting = countingRows();
    const invite = await clinic.invite();
    const mails = aMailWorker({ EMAIL: clinic.provider.binding, DB: counting.DB });
    const { rows_read } = await counting.during(() => mails.deliver({ schema: "invite_mails/1" }));
    expect(clinic.provider.to(invite)).toHaveLength(1);
    return rows_read;
  };
  const before = await rowsRead();
  const later = Date.now() + 3_600_000;
  await insertInvites(clinic, 8999, later, "later.example", later);
  // To enforce the limit, recent mails are counted: the second time, there is one more.
  expect(await rowsRead()).toBeLessThanOrEqual(before + 2);
});

describe("Finding a free slug", () => {
  /** The rows read to create a room of the name, and to rename a room to it, away from it and back. */
  async function rowsReadFor(count: number) {
    const other = await anOrganization();
    await other.addRoom({ name: "Lungs" });
    await insertMany(
      count,
      `insert into waiting_rooms (organization_id, name, name_key, slug, theme, is_active, created_at, updated_at)
       select ?1, 'Lab', 'lab', ?2 || '--lab' || iif(n = 1, '', '-' || n), 'default', true, unixepoch() * 1000, 1 from counter`,
      ...[other.id, other.slug],
    );
    const counting = countingRows();
    const client = other.client.through(counting.fetcher);
    await given(client.get("/roles"));
    const rename = (kebab: string, name: string) =>
      given(client.put(`/waiting_rooms/${other.slug}--${kebab}`, { waiting_room: { name } }));
    const rows: number[] = [];
    for (const [kebab, work] of [
      [`lab-${count + 1}`, () => given(client.post("/waiting_rooms", { waiting_room: { name: "Lab" } }))],
      [`lab-${count + 2}`, () => rename("lungs", "Lab")],
      ["lungs-2", () => rename(`lab-${count + 2}`, "Lungs")],
      [`lab-${count + 3}`, () => rename("lungs-2", "Lab")],
    ] as const) {
      const { result, rows_read } = await counting.during(work);
      expect(result.slug).toBe(`${other.slug}--${kebab}`);
      rows.push(rows_read);
    }
    return rows;
  }

  it("for a room costs the same among 10,000 rooms of one name as among two", async () => {
    expect(await rowsReadFor(10_000)).toEqual(await rowsReadFor(2));
  });

  it("for an organization costs the same among 10,000 of one name as among two", async () => {
    const rows: number[] = [];
    for (const count of [10_000, 2]) {
      const name = unique("lab");
      await insertMany(
        count,
        "insert into places (slug, shard) select ?1 || iif(n = 1, '', '-' || n), 0 from counter",
        name,
      );
      await growOrganizations(run, 0);
      const counting = countingRows();
      const { result, rows_read } = await counting.during(() =>
        given(platform.through(counting.fetcher).post("/organizations", { organization: { name } })),
      );
      expect(result.slug).toBe(`${name}-${count + 1}`);
      rows.push(rows_read);
    }
    expect(rows[0]).toBe(rows[1]);
  });
});

it("GET /bulk_invites/{id} reads each row of the bulk invite at most once", async () => {
  const ROWS = 1000;
  const organization_invites = [anInvite()];
  const { bulk_invite } = await given(clinic.client.post("/invites/bulk_create", { organization_invites }));
  await insertMany(
    ROWS,
    `insert into bulk_invite_rows (organization_id, bulk_invite_id, row, email, display_name, roles, status)
     select ?1, ?2, n, n || '@bulk.example', 'Invitee', '["provider"]', 'created' from counter`,
    clinic.id,
    bulk_invite.id,
  );
  const { result, rows_read } = await reading(`/bulk_invites/${bulk_invite.id}`);
  expect(result.bulk_invite.created_count).toBeGreaterThanOrEqual(ROWS);
  expect(rows_read).toBeLessThanOrEqual(ROWS + 10);
});

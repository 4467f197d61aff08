import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { DAY } from "../../../src/units.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { digestOf, storedRows } from "../support/database.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { throughWorkerWith } from "../support/worker.ts";

interface Entry {
  id: number;
  resource: string;
  [field: string]: unknown;
}

interface Page {
  access_logs: Entry[];
  next_after: number | null;
}

type Client = Pick<Organization["client"], "get" | "send">;

const MORNING = Date.parse("2026-01-31T09:00:00Z");

/** Inserts entries: reads of a transcript, with these fields changed. Returns their ids. */
async function plant({ id }: { id: number }, entries: object[]): Promise<number[]> {
  const columns = ["at", "event", "resource", "resource_id", "call_id", "user_id", "acting_user", "purpose"];
  const { results } = await env.DB.prepare(
    `insert into access_logs (organization_id, ${columns.join(", ")}, request_id)
     select ?1, ${columns.map((name) => `value ->> '${name}'`).join(", ")}, randomblob(16) from json_each(?2)
     order by key returning id`,
  )
    .bind(id, JSON.stringify(entries.map((entry) => ({ ...aRead, ...entry }))))
    .all<{ id: number }>();
  return results.map((row) => row.id).sort((a, b) => a - b);
}

const aRead = { at: MORNING, event: "read", resource: "transcript", user_id: 2 };

const many = (count: number, entry: object | ((n: number) => object)) =>
  Array.from({ length: count }, (_, n) => (typeof entry === "function" ? entry(n) : entry));

/** Marks a day as sealed, with its first and last entry, after the days sealed before it. */
const seal = ({ id }: { id: number }, date: string, first_id?: number, last_id?: number) =>
  env.DB.prepare(
    `insert into access_log_seals (organization_id, date, count, first_id, last_id, sha256, previous, jws, jws_sha256, created_at)
     values (?1, ?2, 1, ?3, ?4, 'a',
       (select jws_sha256 from access_log_seals where organization_id = ?1 order by last_id desc limit 1), ?2, ?5, 1)`,
  )
    .bind(id, date, first_id, last_id, `digest of ${date}`)
    .run();

const listed = async (client: Client, query: string): Promise<Page> =>
  given(client.get(`/access_logs?${query}`));

const idsOf = ({ access_logs }: Page) => access_logs.map(({ id }) => id);

async function allPages(client: Client, query: string, after = 0): Promise<Page[]> {
  const pages: Page[] = [];
  for (let next: number | null = after; next !== null; ) {
    const page = await listed(client, `${query}&after=${next}`);
    pages.push(page);
    expect(page.next_after ?? Number.MAX_SAFE_INTEGER).toBeGreaterThan(next);
    next = page.next_after;
  }
  return pages;
}

const asNdjson = (client: Client, query: string) =>
  client.send("GET", `/access_logs?${query}`, undefined, { Accept: "application/x-ndjson" });

const linesOf = ({ body }: { body: string }): Entry[] =>
  body
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe("GET /access_logs", () => {
  it("shows who read what, about whom, for whom, why and when", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    const { status, headers } = await clinic.client.send("GET", `${call.path}/soap_note`, undefined, {
      "X-Acting-User": "staff-207",
      "X-Purpose-Of-Use": "TREAT",
    });
    expect(status).toBe(200);
    const { access_logs, next_after } = await listed(clinic.client, `call_id=${call.id}&event=read`);
    expect(access_logs).toEqual([
      {
        id: expect.any(Number),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        event: "read",
        resource: "soap_note",
        resource_id: call.id,
        call_id: call.id,
        organization_user_id: call.owner.id,
        user_id: clinic.admin.user_id,
        api_client_id: clinic.client.id,
        acting_user: "staff-207",
        purpose: "TREAT",
        request_id: headers.get("X-Request-Id"),
        shown: null,
        from: null,
        to: null,
      },
    ]);
    expect(next_after).toBeNull();
  });

  it("shows the entry of a read only to the next request", async () => {
    const clinic = await anOrganization();
    const first = await clinic.client.get("/access_logs?resource=access_log");
    expect(first.body).toEqual({ access_logs: [], next_after: null });
    const next = await listed(clinic.client, "resource=access_log");
    expect(next.access_logs).toMatchObject([
      { event: "read", resource_id: null, call_id: null, request_id: first.headers.get("X-Request-Id") },
    ]);
    expect((await listed(clinic.client, "resource=access_log")).access_logs).toHaveLength(2);
  });
});

describe("GET /access_logs with filters", () => {
  const ENTRIES = {
    ofCall: { call_id: 7 },
    ofPerson: { acting_user: "staff-1" },
    ofUser: { user_id: 3 },
    note: { resource: "soap_note" },
    change: { event: "delete" },
    dayBefore: { at: MORNING - DAY },
    lastOfDayBefore: { at: Date.parse("2026-01-31T00:00:00Z") - 1 },
    firstOfDay: { at: Date.parse("2026-01-31T00:00:00Z") },
    lastOfDay: { at: Date.parse("2026-02-01T00:00:00Z") - 1 },
    firstOfNext: { at: Date.parse("2026-02-01T00:00:00Z") },
    noteOfCall: { call_id: 7, resource: "soap_note", acting_user: "staff-1" },
    noteOfCallLater: { call_id: 7, resource: "soap_note", acting_user: "staff-1", at: MORNING + DAY },
    changeOfCall: { call_id: 7, event: "delete", acting_user: "staff-2", user_id: 3 },
  };

  type Name = keyof typeof ENTRIES;

  const names = Object.keys(ENTRIES) as Name[];

  const CASES: [query: string, names: Name[]][] = [
    ["call_id=7", ["ofCall", "noteOfCall", "noteOfCallLater", "changeOfCall"]],
    ["acting_user=staff-1", ["ofPerson", "noteOfCall", "noteOfCallLater"]],
    ["user_id=3", ["ofUser", "changeOfCall"]],
    ["resource=soap_note", ["note", "noteOfCall", "noteOfCallLater"]],
    ["event=delete", ["change", "changeOfCall"]],
    ["from=2026-02-01&resource=transcript", ["firstOfNext"]],
    ["to=2026-01-30", ["dayBefore", "lastOfDayBefore"]],
    ["from=2026-02-01&to=2026-02-01", ["firstOfNext", "noteOfCallLater"]],
    [
      "from=2026-01-31&to=2026-01-31&event=read&resource=transcript&user_id=2",
      ["ofCall", "ofPerson", "firstOfDay", "lastOfDay"],
    ],
    ["call_id=7&acting_user=staff-1&to=2026-01-31", ["noteOfCall"]],
    ["acting_user=staff-2&event=read", []],
    ["acting_user=staff-2&event=delete&user_id=3&call_id=7&resource=transcript", ["changeOfCall"]],
    ["call_id=&from=&event=delete", ["change", "changeOfCall"]],
  ];

  it("returns the matching entries, as JSON and as NDJSON", async () => {
    const clinic = await anOrganization();
    const [setUp = 0] = idsOf(await listed(clinic.client, "per_page=100")).slice(-1);
    const planted = await plant(clinic, Object.values(ENTRIES));
    for (const [query, expected] of CASES) {
      const shown = (await allPages(clinic.client, `${query}&per_page=3`, setUp))
        .flatMap(({ access_logs }) => access_logs)
        .filter(({ resource }) => resource !== "access_log");
      expect([query, shown.map(({ id }) => names[planted.indexOf(id)])]).toEqual([query, expected]);
      const lines = linesOf(await asNdjson(clinic.client, `${query}&after=${setUp}`));
      expect(lines.filter(({ resource }) => resource !== "access_log")).toEqual(shown);
    }
  });
});

describe("GET /access_logs, page by page", () => {
  it("returns next_after on every page but the last", async () => {
    const clinic = await anOrganization();
    const planted = await plant(clinic, many(7, { acting_user: "staff-1" }));
    const pages = await allPages(clinic.client, "acting_user=staff-1&per_page=3");
    expect(pages.map(idsOf)).toEqual([planted.slice(0, 3), planted.slice(3, 6), planted.slice(6)]);
    const full = await allPages(clinic.client, "acting_user=staff-1&per_page=7");
    expect(full).toMatchObject([{ next_after: null }]);
  });

  it("continues where the last request stopped looking, even with few or no matches", async () => {
    const clinic = await anOrganization();
    const hit = { acting_user: "staff-1", event: "delete" };
    const miss = { acting_user: "staff-1" };
    const planted = await plant(clinic, [...many(4999, miss), hit, ...many(7000, miss), hit]);
    const query = "acting_user=staff-1&event=delete";
    const [first, second, third, ...more] = await allPages(clinic.client, query);
    expect(first).toMatchObject({ access_logs: [{ id: planted[4999] }], next_after: planted[4999] });
    expect(second).toEqual({ access_logs: [], next_after: planted[9999] });
    expect(third).toMatchObject({ access_logs: [{ id: planted.at(-1) }], next_after: null });
    expect(more).toEqual([]);
  });

  it("exports up to 10,000 entries as NDJSON, with X-Next-After if there are more", async () => {
    const clinic = await anOrganization();
    const planted = await plant(clinic, many(10_003, { acting_user: "staff-1" }));
    const first = await asNdjson(clinic.client, "acting_user=staff-1&per_page=1");
    expect(first.headers.get("Content-Type")).toBe("application/x-ndjson");
    expect(first.headers.get("Vary")).toBe("Accept");
    expect(linesOf(first).map(({ id }) => id)).toEqual(planted.slice(0, 10_000));
    expect(first.headers.get("X-Next-After")).toBe(String(planted[9999]));
    const rest = await asNdjson(clinic.client, `acting_user=staff-1&after=${planted[9999]}`);
    expect(linesOf(rest).map(({ id }) => id)).toEqual(planted.slice(10_000));
    expect(rest.headers.has("X-Next-After")).toBe(false);
    const nothing = await asNdjson(clinic.client, "acting_user=staff-9");
    expect([nothing.status, nothing.body, nothing.headers.has("X-Next-After")]).toEqual([200, "", false]);
  });

  it("streams an export: if the database fails midway, the response breaks off and a fault is logged", async () => {
    const clinic = await anOrganization();
    await plant(clinic, many(2500, {}));
    let trips = 0;
    let isDown = false;
    const DB = observedDatabase({
      async query(run) {
        trips++;
        if (isDown) throw new Error("D1_ERROR: Network connection lost.");
        return run();
      },
    });
    const worker = throughWorkerWith({ DB });
    await given(clinic.client.through(worker).get("/roles"));
    const client = clinic.client.through(async (request) => {
      trips = 0;
      const response = await worker(request);
      expect([response.status, trips]).toEqual([200, 1]);
      isDown = true;
      return response;
    });
    const logged = vi.spyOn(console, "error");
    await expect(asNdjson(client, "")).rejects.toThrow();
    expect(logged).toHaveBeenCalledOnce();
    expect(trips).toBe(2);
    logged.mockRestore();
  });
});

describe("GET /access_logs?external_reference", () => {
  const patient = (more: object = {}) => aRecipient({ external_reference: "patient-4711", ...more });

  it("returns everything about the patient's calls, in order", async () => {
    const clinic = await anOrganization();
    const [first, second, other] = [
      await aCall(clinic, { participants: [patient()] }),
      await aCall(clinic, { participants: [patient(), aRecipient()] }),
      await aCall(clinic, { participants: [aRecipient({ external_reference: "patient-1" })] }),
    ];
    const calls = [second, first, other, second, first, first, second];
    const planted = await plant(
      clinic,
      calls.map(({ id }, n) => ({ call_id: id, event: n < 5 ? "read" : "delete" })),
    );
    const theirs = planted.filter((_, n) => calls[n] !== other);
    const query = "external_reference=patient-4711";
    const whole = await listed(clinic.client, query);
    expect([idsOf(whole), whole.next_after]).toEqual([theirs, null]);
    expect((await allPages(clinic.client, `${query}&per_page=1`)).map(idsOf)).toEqual(
      theirs.map((id) => [id]),
    );
    expect(linesOf(await asNdjson(clinic.client, query)).map(({ id }) => id)).toEqual(theirs);
    expect(idsOf(await listed(clinic.client, `${query}&event=delete`))).toEqual(theirs.slice(-2));
    expect(idsOf(await listed(clinic.client, `${query}&call_id=${first.id}`))).toEqual(
      planted.filter((_, n) => calls[n] === first),
    );
    expect(await listed(clinic.client, `${query}&call_id=${other.id}`)).toMatchObject({ access_logs: [] });
    const ofNobody = await listed(clinic.client, "external_reference=patient-9");
    expect(ofNobody).toEqual({ access_logs: [], next_after: null });
  });
});

/** An organization with a patient who took part in `count` calls. */
async function aPatientOfMany(count: number) {
  const clinic = await anOrganization();
  const { owner, room } = await aCall(clinic);
  await insertMany(
    count,
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at,
       failed, created_at, updated_at)
     select ?1, 'seen-' || ?1 || '-' || n, ?2, ?3, n, n + 1, false, n, n from counter`,
    clinic.id,
    owner.id,
    room.id,
  );
  await env.DB.prepare(
    `insert into recorded_participants (organization_id, key, waiting_room_id, call_id, display_name, role, external_reference,
       reference_digest, left_at, created_at, updated_at)
     select organization_id, key, waiting_room_id, id, 'Rita', 'recipient', 'patient-4711', ?2, ended_at, 1, 1
     from calls where organization_id = ?1 and key glob 'seen-*'`,
  )
    .bind(clinic.id, await digestOf("patient-4711"))
    .run();
  const calls = (await storedRows(clinic, "calls")).filter(({ key }) => String(key).startsWith("seen-"));
  return { clinic, calls: calls.map(({ id }) => id) };
}

describe("GET /access_logs on a long log", () => {
  const BOUND = 10_000 + 20;

  async function reading({ client }: Organization, query: string, Accept = "application/json") {
    const counting = countingRows();
    const counted = client.through(counting.fetcher);
    await given(counted.get("/roles"));
    return counting.during(() => given(counted.send("GET", `/access_logs?${query}`, undefined, { Accept })));
  }

  it("reads only the entries shown, without a filter or by call or acting user, and otherwise at most about 10,000 rows", async () => {
    const clinic = await anOrganization();
    await plant(clinic, many(12_000, { call_id: 7, acting_user: "staff-1" }));
    for (const query of ["", "call_id=7", "acting_user=staff-1"]) {
      const { rows_read, result } = await reading(clinic, query);
      expect(result.access_logs).toHaveLength(25);
      expect(rows_read).toBeLessThanOrEqual(45);
    }
    for (const query of [
      "event=delete",
      "user_id=999999",
      "resource=issuer",
      "from=2026-02-01",
      "to=2026-01-01",
      "call_id=7&event=delete",
      "acting_user=staff-1&resource=issuer",
      "call_id=7&acting_user=staff-2",
    ])
      for (const accept of ["application/json", "application/x-ndjson"])
        expect((await reading(clinic, query, accept)).rows_read, query).toBeLessThanOrEqual(BOUND);
    // X-Next-After is sent before the body, so the end of the export is looked up first.
    const exported = await reading(clinic, "", "application/x-ndjson");
    expect(exported.rows_read).toBeLessThanOrEqual(2 * BOUND + 100);
  });

  it("reads at most about 10,000 rows for a patient with 500 calls", async () => {
    const { clinic, calls } = await aPatientOfMany(500);
    const planted = await plant(
      clinic,
      many(12_000, (n) => ({ call_id: calls[(n * 7) % calls.length] })),
    );
    const query = "external_reference=patient-4711";
    const page = await reading(clinic, query);
    expect(idsOf(page.result)).toEqual(planted.slice(0, 25));
    // The index entries searched, and once the patient's records and participations.
    expect(page.rows_read).toBeLessThanOrEqual(BOUND / 2 + 4 * 500 + 2 * 25);
    const few = await reading(clinic, `${query}&event=delete`);
    expect(few.result).toMatchObject({ access_logs: [], next_after: expect.any(Number) });
    expect(few.rows_read).toBeLessThanOrEqual(BOUND + 4 * 500);
  });

  it("reads only the sealed days that can hold entries of the requested dates", async () => {
    const clinic = await anOrganization();
    const day = (n: number) => ({ at: MORNING + n * DAY });
    const planted = await plant(
      clinic,
      many(4000, (n) => day(Math.floor(n / 1000))),
    );
    const [latecomer] = await plant(clinic, [day(2)]);
    const rest = await plant(clinic, many(1000, day(4)));
    for (const [n, date] of ["2026-01-31", "2026-02-01", "2026-02-02"].entries())
      await seal(clinic, date, planted[n * 1000], planted[n * 1000 + 999]);
    const ofLastDays = await reading(clinic, "from=2026-02-03");
    expect(idsOf(ofLastDays.result)[0]).toBe(planted[3000]);
    expect(ofLastDays.rows_read).toBeLessThanOrEqual(2 * 2001 + 100);
    const ofFirstDay = await reading(clinic, "to=2026-01-31&from=2026-01-31&event=delete");
    expect(ofFirstDay.result).toEqual({ access_logs: [], next_after: null });
    expect(ofFirstDay.rows_read).toBeLessThanOrEqual(2 * 2000 + 100);
    // An entry that arrived after its day was sealed is in the next seal.
    await seal(clinic, "2026-02-03", planted[3000], latecomer);
    const late = await listed(clinic.client, "from=2026-02-02&to=2026-02-02&per_page=100");
    expect(idsOf(late)).toEqual(planted.slice(2000, 2100));
    expect(idsOf(await listed(clinic.client, "from=2026-02-04&per_page=1"))).toEqual(rest.slice(0, 1));
    const ofItsDay = await listed(clinic.client, `from=2026-02-02&to=2026-02-02&after=${planted[2998]}`);
    expect(idsOf(ofItsDay)).toEqual([planted[2999], latecomer]);
  });
});

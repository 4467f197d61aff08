import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";
import {
  aClinicWithQueue,
  type ClinicWithQueue,
  EARLIER_ROW,
  HAS_ACCOUNT,
  invitesOf,
  leavingNoInvites,
  rowHasExpiredInvite,
  rowHasPendingInvite,
} from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const MIB = 1024 * 1024;

/** Valid rows, with a faulty one at the index `row`. */
const atRow = (row: number, fault: unknown) => [...invitesOf(row), fault, anInvite()];

const bulkCreate = ({ client }: Pick<Organization, "client">, organization_invites: unknown) =>
  client.post("/invites/bulk_create", { organization_invites });

const progressOf = async ({ client }: Pick<Organization, "client">, { id }: { id: number }) =>
  (await given(client.get(`/bulk_invites/${id}`))).bulk_invite;

async function aClinicWithRealQueue(): Promise<Organization> {
  const clinic = await anOrganization();
  const through = clinic.client.through(throughWorkerWith({ BULK_INVITES: env.REAL_BULK_INVITES }));
  return { ...clinic, client: { ...clinic.client, ...through } };
}

const untilCompleted = (clinic: Organization, bulkInvite: { id: number }) =>
  vi.waitUntil(
    async () => {
      const progress = await progressOf(clinic, bulkInvite);
      return progress.status === "completed" && progress;
    },
    { timeout: 30_000, interval: 100 },
  );

/** Invites these people in bulk, and returns the progress when all rows are done. */
async function invited(clinic: ClinicWithQueue, rows: object[]) {
  const { id, messages } = await clinic.bulkInvite(rows);
  await clinic.consume(messages);
  return clinic.progressOf({ id });
}

const wire = ({ email, display_name, role_names }: ReturnType<typeof anInvite>) => ({
  email,
  display_name,
  roles: role_names,
});

describe("POST /invites/bulk_create", () => {
  it("responds at once, with the number of rows and the Location of the progress", async () => {
    const clinic = await aClinicWithQueue();
    const { headers, body } = await bulkCreate(clinic, invitesOf(3));
    expect(body).toEqual({
      bulk_invite: {
        id: expect.any(Number),
        status: "pending",
        total_count: 3,
        created_count: 0,
        failed_count: 0,
        created_at: aTimestamp,
        updated_at: body.bulk_invite.created_at,
      },
    });
    expect(headers.get("Location")).toBe(`/api/external/bulk_invites/${body.bulk_invite.id}`);
    const progress = await clinic.client.get(`/bulk_invites/${body.bulk_invite.id}`);
    expect(progress).toMatchObject({ status: 200 });
    expect(progress.body).toEqual({ bulk_invite: { ...body.bulk_invite, failures: [] } });
  });

  it("accepts a thousand rows, and creates a thousand invites", { timeout: 60_000 }, async () => {
    const clinic = await aClinicWithRealQueue();
    leavingNoInvites(clinic);
    const rows = Array.from({ length: 1000 }, (_, n) =>
      anInvite({
        // With names of 720 bytes, the statements come close to what D1 allows for one parameter.
        display_name: `${n} ${"医".repeat(240)}`,
        role_names: n % 2 === 0 ? ["provider"] : ["provider_assistant", "organization_admin"],
      }),
    );
    const { body } = await bulkCreate(clinic, rows);
    expect(body.bulk_invite).toMatchObject({ status: "pending", total_count: 1000 });
    expect(await untilCompleted(clinic, body.bulk_invite)).toMatchObject({
      status: "completed",
      total_count: 1000,
      created_count: 1000,
      failed_count: 0,
      failures: [],
    });
    const invites = [];
    for (let page = 1; page <= 10; page++) {
      const listed = await given(clinic.client.get(`/invites?per_page=100&page=${page}`));
      expect(listed.pagination).toMatchObject({ total_count: 1000, total_pages: 10 });
      invites.push(...listed.organization_invites);
    }
    const made = new Map(
      invites.map(({ email, display_name, roles }) => [email, { email, display_name, roles }]),
    );
    expect(made.size).toBe(1000);
    expect(rows.map(({ email }) => made.get(email))).toEqual(rows.map(wire));
  });

  it("stores names unchanged, in every script and with quotes", async () => {
    const clinic = await aClinicWithQueue();
    const names = [
      "Ärztin Groß",
      "Łódź O'Neill",
      'The "Doc"',
      "医者 🩺",
      "back\\slash",
      '{"json": 1}',
      "%_?1",
    ];
    await invited(
      clinic,
      names.map((display_name) => anInvite({ display_name })),
    );
    const invites = await clinic.pendingInvites();
    expect(invites.map(({ display_name }) => display_name)).toEqual(names);
  });

  it("accepts 1 MiB of JSON", async () => {
    const clinic = await aClinicWithQueue();
    const body = JSON.stringify({ organization_invites: invitesOf(2) }).padEnd(MIB, " ");
    expect(await clinic.client.post("/invites/bulk_create", body)).toMatchObject({
      status: 201,
      body: { bulk_invite: { total_count: 2 } },
    });
  });
});

describe("POST /invites/bulk_create is refused as a whole", () => {
  /** Returns the answer to a request that must store nothing and leave the queue empty. */
  async function refusing(body: unknown, roles?: string[]) {
    const clinic = await aClinicWithQueue();
    const caller = roles
      ? await clinic.addClient((await clinic.addUser("Cal Caller", roles)).id)
      : clinic.client;
    const client = caller.through(clinic.fetcher);
    const refused = await changingNothing(() => client.post("/invites/bulk_create", body));
    expect(clinic.queue.sent).toEqual([]);
    return refused;
  }

  it("if it is larger than 1 MiB", async () => {
    const body = JSON.stringify({ organization_invites: invitesOf(2) }).padEnd(MIB + 1, " ");
    expectRefusal(await refusing(body), 413, /1,048,576/);
  });

  it.each<[string, unknown, RegExp]>([
    ["no email", anInvite({ email: undefined }), /organization_invites\.7\.email/],
    ["an unknown role", anInvite({ role_names: ["owner"] }), /organization_invites\.7\.role_names/],
    ["nothing", null, /organization_invites\.7\b/],
  ])("if a row has %s, with an error that names the row, counted from 0", async (_, row, named) => {
    const refused = await refusing({ organization_invites: atRow(7, row) });
    expectRefusal(refused, 422, named);
    expect(refused.body.error).not.toMatch(/organization_invites\.[^7]/);
  });

  it("if several rows are wrong, with an error that names each of them", async () => {
    const [email, display_name] = [anInvite({ email: "ivy" }), anInvite({ display_name: "" })];
    const refused = await refusing({ organization_invites: [email, anInvite(), display_name] });
    expectRefusal(refused, 422, /organization_invites\.0\.email.*organization_invites\.2\.display_name/);
  });

  it("if a row has a role above the caller's level, with an error that names the row", async () => {
    const row = anInvite({ role_names: ["provider_assistant", "organization_admin"] });
    const before = Array.from({ length: 4 }, () => anInvite({ role_names: ["provider_assistant"] }));
    const organization_invites = [...before, row];
    const refused = await refusing({ organization_invites }, ["provider_assistant", "provider"]);
    expectRefusal(refused, 422, /organization_invites\.4\.role_names: .*organization_admin/);
  });

  it("but not if each role is at or below the caller's level", async () => {
    const clinic = await aClinicWithQueue();
    const { id } = await clinic.addProvider();
    const client = (await clinic.addClient(id)).through(clinic.fetcher);
    const rows = [anInvite({ role_names: ["provider_assistant"] }), anInvite({ role_names: ["provider"] })];
    expect(await bulkCreate({ client: { ...clinic.client, ...client } }, rows)).toMatchObject({
      status: 201,
    });
  });
});

describe("A single row of a bulk invite fails in the background", () => {
  it("for its own reason, including changes since the request, however the email is written", async () => {
    const [clinic, other] = [await aClinicWithQueue(), await anOrganization("Hillside Clinic")];
    const [expired, elsewhere] = [await clinic.addInvite(), await other.addInvite()];
    travelTo(fromNow(8 * 24 * 60));
    const [pending, member] = [await clinic.addInvite(), await clinic.addProvider()];
    const [fresh, late, twice, stranger] = [anInvite(), anInvite(), anInvite(), await other.addProvider()];
    const { id, messages } = await clinic.bulkInvite([
      { ...fresh },
      anInvite({ email: pending.email.toUpperCase(), role_names: ["organization_admin"] }),
      anInvite({ email: ` ${member.email.toUpperCase()}` }),
      anInvite({ email: expired.email }),
      { ...twice, display_name: "First" },
      anInvite({ email: twice.email.toUpperCase(), role_names: ["organization_admin"] }),
      anInvite({ email: ` ${twice.email}` }),
      { ...late },
      anInvite({ email: stranger.email }),
      anInvite({ email: elsewhere.email }),
    ]);
    const user = { email: late.email, display_name: "Paula Provider", roles: ["provider"] };
    await given(clinic.platform.post("/users", { user }));
    await clinic.consume(messages);
    const progress = await clinic.progressOf({ id });
    expect(progress).toMatchObject({
      status: "completed",
      total_count: 10,
      created_count: 4,
      failed_count: 6,
    });
    expect(progress.failures).toEqual([
      { row: 1, email: pending.email, error: rowHasPendingInvite(pending) },
      { row: 2, email: member.email, error: HAS_ACCOUNT },
      { row: 3, email: expired.email, error: rowHasExpiredInvite(expired) },
      { row: 5, email: twice.email, error: EARLIER_ROW },
      { row: 6, email: twice.email, error: EARLIER_ROW },
      { row: 7, email: late.email, error: HAS_ACCOUNT },
    ]);
    const invites = await clinic.pendingInvites();
    expect(invites[0]).toEqual(pending);
    expect(invites.slice(1)).toMatchObject([
      { email: fresh.email },
      { email: twice.email, display_name: "First", roles: ["provider"] },
      { email: stranger.email },
      { email: elsewhere.email },
    ]);
    for (const [{ client }, invite] of [[clinic, expired] as const, [other, elsewhere] as const])
      expect(await given(client.get(`/invites/${invite.id}`))).toEqual(invite);
  });

  it("but not if the earlier invite of its email was deleted", async () => {
    const clinic = await aClinicWithQueue();
    const invites = [await clinic.addInvite(), await clinic.addInvite()];
    const rows = invites.map(({ email }) => anInvite({ email, display_name: "Ivy Again" }));
    const { id, messages } = await clinic.bulkInvite(rows);
    travelTo(invites[0].expires_at);
    for (const invite of invites) await given(clinic.client.delete(`/invites/${invite.id}`));
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toMatchObject({ created_count: 2, failures: [] });
    const names = (await clinic.pendingInvites()).map(({ display_name }) => display_name);
    expect(names).toEqual(["Ivy Again", "Ivy Again"]);
  });
});

describe("GET /bulk_invites/{id}", () => {
  it("counts created and failed rows, and shows when they were processed", async () => {
    const clinic = await aClinicWithQueue();
    const [first, last] = [anInvite(), anInvite()];
    const { id, bulk_invite, messages } = await clinic.bulkInvite([first, first, last]);
    const later = fromNow(2);
    travelTo(later);
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toEqual({
      ...bulk_invite,
      status: "completed",
      created_count: 2,
      failed_count: 1,
      updated_at: later,
      failures: [{ row: 1, email: first.email, error: EARLIER_ROW }],
    });
  });

  it("shows a bulk invite as completed even if every row failed", async () => {
    const clinic = await aClinicWithQueue();
    const { email } = await clinic.addProvider();
    const progress = await invited(clinic, [anInvite({ email }), anInvite({ email })]);
    expect(progress).toMatchObject({ status: "completed", created_count: 0, failed_count: 2 });
    expect(progress.failures).toEqual([
      { row: 0, email, error: HAS_ACCOUNT },
      { row: 1, email, error: EARLIER_ROW },
    ]);
  });

  it("does not change when the invites change later", async () => {
    const clinic = await aClinicWithQueue();
    const progress = await invited(clinic, invitesOf(2));
    const [one] = await clinic.pendingInvites();
    expect(await clinic.client.delete(`/invites/${one.id}`)).toMatchObject({ status: 204 });
    expect(await clinic.progressOf(progress)).toEqual(progress);
  });
});

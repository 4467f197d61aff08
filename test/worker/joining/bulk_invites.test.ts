import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { DAY } from "../../../src/units.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anInvite, anOrganization, given } from "../support/organization.ts";
import {
  aClinicWithQueue,
  EARLIER_ROW,
  HAS_ACCOUNT,
  invitesOf,
  rowHasExpiredInvite,
  rowHasPendingInvite,
} from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const MIB = 1024 * 1024;

const NAMES = ["Ärztin Groß", "Łódź O'Neill", 'The "Doc"', "医者 🩺", "back\\slash", '{"json": 1}', "%_?1"];

describe("POST /invites/bulk_create", () => {
  it("creates a thousand invites, with names in every script and with quotes", {
    timeout: 60_000,
  }, async () => {
    const clinic = await aClinicWithQueue({ BULK_INVITES: env.REAL_BULK_INVITES });
    const rows = Array.from({ length: 1000 }, (_, n) =>
      anInvite({
        // With names of 720 bytes, the statements come close to what D1 allows for one parameter.
        display_name: n < NAMES.length ? NAMES[n] : `${n} ${"医".repeat(240)}`,
        role_names: n % 2 === 0 ? ["provider"] : ["provider_assistant", "organization_admin"],
      }),
    );
    const { headers, body } = await clinic.client.post("/invites/bulk_create", {
      organization_invites: rows,
    });
    expect(body.bulk_invite).toMatchObject({ status: "pending", total_count: 1000 });
    expect(headers.get("Location")).toBe(`/api/external/bulk_invites/${body.bulk_invite.id}`);
    const progress = await vi.waitUntil(
      async () => {
        const progress = await clinic.progressOf(body.bulk_invite);
        return progress.status === "completed" && progress;
      },
      { timeout: 30_000, interval: 100 },
    );
    expect(progress).toMatchObject({ created_count: 1000, failed_count: 0, failures: [] });
    const invites = await clinic.pendingInvites();
    expect(invites).toHaveLength(1000);
    const made = new Map(
      invites.map(({ email, display_name, roles }) => [email, { email, display_name, role_names: roles }]),
    );
    expect(rows.map(({ email }) => made.get(email))).toEqual(rows);
  });

  it("accepts 1 MiB of JSON, but no more", async () => {
    const clinic = await aClinicWithQueue();
    const post = (bytes: number) =>
      clinic.client.post(
        "/invites/bulk_create",
        JSON.stringify({ organization_invites: invitesOf(2) }).padEnd(bytes, " "),
      );
    expectRefusal(await changingNothing(() => post(MIB + 1)), 413, /1,048,576/);
    expect(await post(MIB)).toMatchObject({ status: 201, body: { bulk_invite: { total_count: 2 } } });
  });

  it.each<[string, unknown[], RegExp]>([
    [
      "several rows are wrong",
      [anInvite({ email: "ivy" }), anInvite(), anInvite({ display_name: "" }), null],
      /organization_invites\.0\.email(?!.*invites\.1).*invites\.2\.display_name.*invites\.3\b/,
    ],
    [
      "a row has a role above the caller's level",
      [anInvite({ role_names: ["provider"] }), anInvite({ role_names: ["provider", "organization_admin"] })],
      /^organization_invites\.1\.role_names: .*organization_admin/,
    ],
  ])(
    "is refused as a whole if %s, with an error that names the rows, counted from 0",
    async (_, rows, named) => {
      const clinic = await aClinicWithQueue();
      const client = (await clinic.addClient((await clinic.addProvider()).id)).through(clinic.fetcher);
      const body = { organization_invites: rows };
      expectRefusal(await changingNothing(() => client.post("/invites/bulk_create", body)), 422, named);
      expect(clinic.queue.sent).toEqual([]);
    },
  );
});

it("A row of a bulk invite fails in the background, for its own reason, including changes since the request, however the email is written", async () => {
  const clinic = await aClinicWithQueue({ INVITE_VALIDITY_DAYS: "30" });
  const other = await anOrganization("Hillside Clinic");
  const [expired, elsewhere] = [await clinic.addInvite(), await other.addInvite()];
  travelTo(fromNow(8 * 24 * 60));
  const [pending, member, deleted] = [
    await clinic.addInvite(),
    await clinic.addProvider(),
    await clinic.addInvite(),
  ];
  const [fresh, late, twice, stranger] = [anInvite(), anInvite(), anInvite(), await other.addProvider()];
  const { id, bulk_invite, messages } = await clinic.bulkInvite([
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
    anInvite({ email: deleted.email }),
  ]);
  const user = { email: late.email, display_name: "Paula Provider", roles: ["provider"] };
  await given(clinic.platform.post("/users", { user }));
  await given(clinic.client.delete(`/invites/${deleted.id}`));
  const later = fromNow(2);
  travelTo(later);
  await clinic.consume(messages);
  const progress = await clinic.progressOf({ id });
  expect(progress).toEqual({
    ...bulk_invite,
    status: "completed",
    created_count: 5,
    failed_count: 6,
    updated_at: later,
    failures: expect.any(Array),
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
    { email: deleted.email },
  ]);
  expect(Date.parse(invites[1].expires_at) - Date.parse(invites[1].created_at)).toBe(30 * DAY);
  await given(clinic.client.delete(`/invites/${invites[1].id}`));
  expect(await clinic.progressOf({ id })).toEqual(progress);
  for (const [{ client }, invite] of [[clinic, expired] as const, [other, elsewhere] as const])
    expect(await given(client.get(`/invites/${invite.id}`))).toEqual(invite);
});

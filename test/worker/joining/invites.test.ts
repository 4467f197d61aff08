import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/units.ts";
import { atOnce } from "../support/at_once.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import {
  accept,
  create,
  hasExpiredInvite,
  hasPendingInvite,
  list,
  listed,
  read,
  remove,
  travelToExpiry,
} from "../support/invites.ts";
import { add } from "../support/members.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { aQueue, workerWith } from "../support/queue.ts";
import { anEmail } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const VALIDITY = 7 * DAY;

const EMAIL = "organization_invite.email";
const HAS_ACCOUNT = `${EMAIL}: has an account in the organization`;

const EXPIRED = "?status=expired";

const addMember = (clinic: Organization, email: string) =>
  given(add(clinic, { email, display_name: "Paula Provider", roles: ["provider"] }));

const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });

describe("POST /invites", () => {
  it("returns the fields that the contract does not name after the others", async () => {
    const clinic = await anOrganization();
    const { body } = await create(clinic);
    expect(Object.entries(body).slice(-4)).toEqual([
      ["mail_status", "off"],
      ["mailed_at", null],
      ["created_by_user_id", clinic.admin.user_id],
      ["returning_user_id", null],
    ]);
  });

  it("does not create a user yet", async () => {
    const clinic = await anOrganization();
    const before = await given(clinic.client.get("/organization_users"));
    await clinic.addInvite();
    expect(await given(clinic.client.get("/organization_users"))).toEqual(before);
  });

  it("trims and lower-cases the email, and trims the display name", async () => {
    const clinic = await anOrganization();
    const email = anEmail();
    const created = await create(clinic, {
      email: `  ${email.toUpperCase()}\n`,
      display_name: " Ivy Invitee ",
    });
    expect(created).toMatchObject({ status: 201, body: { email, display_name: "Ivy Invitee" } });
  });

  it("grants each role once, lowest first", async () => {
    const clinic = await anOrganization();
    const role_names = ["organization_admin", "provider", "organization_admin", "provider_assistant"];
    const created = await create(clinic, { role_names });
    expect(created.body.roles).toEqual(["provider_assistant", "provider", "organization_admin"]);
  });
});

describe("The email of an invite", () => {
  it("is refused if it got an account before its invite expired", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    await addMember(clinic, invite.email);
    travelToExpiry(invite);
    expectRefusal(await changingNothing(() => create(clinic, { email: invite.email })), 422, HAS_ACCOUNT);
  });

  it("can have a pending invite and an account in other organizations", async () => {
    const [clinic, inviting, employing] = [
      await anOrganization(),
      await anOrganization("Inviting Clinic"),
      await anOrganization("Employing Clinic"),
    ];
    const elsewhere = await inviting.addInvite();
    const { email } = elsewhere;
    await addMember(employing, email);
    const created = await create(clinic, { email });
    expect(created).toMatchObject({ status: 201, body: { email, organization_id: clinic.id } });
    expect(await listed(inviting)).toEqual([elsewhere]);
    expect(await listed(clinic)).toEqual([created.body]);
  });
});

it("POST /invites accepts every address that an HTML email field accepts", async () => {
  const clinic = await anOrganization();
  const addresses = ["ivy..invitee@example.org", ".ivy@example.org", `${"i".repeat(65)}@example.org`];
  for (const email of addresses)
    expect(await create(clinic, { email })).toMatchObject({ status: 201, body: { email } });
  expectRefusal(await create(clinic, { email: "ivé@example.org" }), 422, /organization_invite\.email/);
  const invites = await listed(clinic);
  expect(invites.map(({ email }: { email: string }) => email)).toEqual(addresses);
});

describe("An invite expires", () => {
  it.each([1, 3, 30])("after INVITE_VALIDITY_DAYS: %i", async (days) => {
    const clinic = await anOrganization();
    const { fetcher } = workerWith({ INVITE_VALIDITY_DAYS: String(days) });
    const { status, body } = await create({ client: clinic.client.through(fetcher) });
    expect(status).toBe(201);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(days * DAY);
  });

  it.each(["0", "31", "-1", "1.5", "week"])(
    "only if INVITE_VALIDITY_DAYS is valid: %s fails every request",
    async (days) => {
      const clinic = await anOrganization();
      const { fetcher } = workerWith({ INVITE_VALIDITY_DAYS: days });
      const client = clinic.client.through(fetcher);
      expectRefusal(await changingNothing(() => create({ client })), 500, "Internal server error");
    },
  );

  it.each([
    ["before the cron has run", 0],
    ["after the cron has run, however long ago that was", 1000 * DAY],
  ])(
    "and from then on is not active, can be read, and blocks another one until it is deleted: %s",
    async (_, later) => {
      const clinic = await anOrganization();
      const invite = await clinic.addInvite();
      travelToExpiry(invite, later);
      if (later > 0) await runCron();
      const pagination = { current_page: 1, per_page: 25, total_pages: 0, total_count: 0 };
      expect(await list(clinic)).toEqual({ organization_invites: [], pagination });
      expect(await list(clinic, EXPIRED)).toEqual({
        organization_invites: [invite],
        pagination: { ...pagination, total_pages: 1, total_count: 1 },
      });
      expect(await read(clinic, invite)).toMatchObject({ status: 200, body: invite });

      const again = {
        email: invite.email.toUpperCase(),
        display_name: "Ivy Again",
        role_names: ["provider_assistant"],
      };
      expectRefusal(
        await changingNothing(() => create(clinic, again)),
        422,
        `${EMAIL}: ${hasExpiredInvite(invite)}`,
      );
      expectGone(await remove(clinic, invite));
      travelToExpiry(invite);
      const next = await create(clinic, again);
      expect(next.body).toEqual({
        ...invite,
        id: expect.any(Number),
        display_name: "Ivy Again",
        roles: ["provider_assistant"],
        expires_at: new Date(Date.parse(invite.expires_at) + VALIDITY).toISOString(),
        created_at: invite.expires_at,
        updated_at: invite.expires_at,
      });
      expect(next.body.id).not.toBe(invite.id);
      expectRefusal(await read(clinic, invite), 404);
      expect(await listed(clinic)).toEqual([next.body]);
      expect(await listed(clinic, EXPIRED)).toEqual([]);
    },
  );

  it("and is then counted as expired and not as active, whatever happens to it", async () => {
    const clinic = await anOrganization();
    const [followed, removed, left] = [
      await clinic.addInvite(),
      await clinic.addInvite(),
      await clinic.addInvite(),
    ];
    travelTo(fromNow(60));
    const [pending, used] = [await clinic.addInvite(), await clinic.addInvite()];
    const expectListed = async (active: object[], expired: object[]) => {
      for (const [query, invites] of [
        ["", active],
        [EXPIRED, expired],
      ] as const) {
        const { organization_invites, pagination } = await list(clinic, query);
        expect(organization_invites).toEqual(invites);
        expect(pagination.total_count).toBe(invites.length);
      }
    };
    await expectListed([followed, removed, left, pending, used], []);
    travelToExpiry(left);
    await expectListed([pending, used], [followed, removed, left]);
    await given(accept(used));
    await expectListed([pending], [followed, removed, left]);
    expectGone(await remove(clinic, removed));
    await expectListed([pending], [followed, left]);
    await runCron();
    await expectListed([pending], [followed, left]);
    expectGone(await remove(clinic, followed));
    const next = await clinic.addInvite({ email: followed.email });
    await expectListed([pending, next], [left]);
    expectRefusal(await accept(left), 422, /expired/);
    expectGone(await remove(clinic, left));
    await expectListed([pending, next], []);
    expectGone(await remove(clinic, pending));
    await expectListed([next], []);
  });
});

describe("GET /invites", () => {
  it("lists invites that were not used in time with status=expired, by id, and no others", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization("Hillside Clinic")];
    const [used, removed] = [await clinic.addInvite(), await clinic.addInvite()];
    // This invite expires later than the next one, although it is older.
    const { fetcher } = workerWith({ INVITE_VALIDITY_DAYS: "8" });
    const zoe = await given(create({ client: clinic.client.through(fetcher) }));
    const ann = await clinic.addInvite();
    await other.addInvite();
    await given(accept(used));
    expectGone(await remove(clinic, removed));
    travelToExpiry(zoe, -1);
    const active = await clinic.addInvite();
    expect(await listed(clinic, EXPIRED)).toEqual([ann]);
    expect(await listed(clinic, "?status=active")).toEqual([zoe, active]);
    travelToExpiry(zoe);
    expect(await list(clinic, EXPIRED)).toEqual({
      organization_invites: [zoe, ann],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 2 },
    });
    expect(await listed(clinic, `${EXPIRED}&per_page=1&page=2`)).toEqual([ann]);
    expect(await listed(clinic, "?status=active")).toEqual([active]);
    expect(await listed(clinic)).toEqual([active]);
  });
});

describe("DELETE /invites/{id}", () => {
  it("is refused for a used invite", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    await given(accept(invite));
    expectRefusal(await changingNothing(() => remove(clinic, invite)), 422, /used/);
  });
});

describe("POST /invites, thirty times at once for one email,", () => {
  it.each<[string, (email: string, n: number) => string]>([
    ["the same way", (email) => email],
    ["in different cases", (email, n) => (n % 2 === 0 ? email : email.toUpperCase())],
  ])("creates one invite and refuses the others, written %s", async (_, write) => {
    const clinic = await anOrganization();
    const email = anEmail();
    const answers = await atOnce(30, (n) => create(clinic, { email: write(email, n) }));
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(made).toHaveLength(1);
    expect(refused).toHaveLength(29);
    for (const refusal of refused)
      expectRefusal(refusal, 422, `${EMAIL}: ${hasPendingInvite(made[0]?.body)}`);
    expect(await listed(clinic)).toEqual(made.map(({ body }) => body));
  });

  it.each([
    ["an active one", "expires_at + 1"],
    ["an expired one", "1"],
  ])(
    "cannot leave two pending invites, because the database itself refuses a second: %s",
    async (_, expires_at) => {
      const { id } = await (await anOrganization()).addInvite();
      const second = env.DB.prepare(
        `insert into invites (organization_id, created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at)
      select organization_id, created_by_user_id, email, display_name, roles, ${expires_at}, created_at, updated_at from invites
      where id = ?`,
      );
      await expect(second.bind(id).run()).rejects.toThrow(/UNIQUE constraint failed/);
    },
  );
});

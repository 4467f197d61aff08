import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY } from "../../src/units.ts";
import type { Api } from "./support/api.ts";
import { atOnce } from "./support/at_once.ts";
import { aTimestamp, expectGone, expectRefusal } from "./support/expectations.ts";
import { accept, hasExpiredInvite, hasPendingInvite, travelToExpiry } from "./support/invites.ts";
import { add } from "./support/members.ts";
import { anInvite, anOrganization, given, type Organization } from "./support/organization.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { anEmail } from "./support/sign_in.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

const VALIDITY = 7 * DAY;

const EMAIL = "organization_invite.email";
const HAS_ACCOUNT = `${EMAIL}: has an account in the organization`;

const create = ({ client }: { client: Pick<Api, "post"> }, more: object = {}) =>
  client.post("/invites", { organization_invite: anInvite(more) });

const read = ({ client }: Organization, { id }: { id: unknown }) => client.get(`/invites/${id}`);

const remove = ({ client }: Organization, { id }: { id: unknown }) => client.delete(`/invites/${id}`);

const list = async ({ client }: Organization, query = "") => (await client.get(`/invites${query}`)).body;

const listed = async (clinic: Organization, query = "") => (await list(clinic, query)).organization_invites;

const EXPIRED = "?status=expired";

const addMember = (clinic: Organization, email: string) =>
  given(add(clinic, { email, display_name: "Paula Provider", roles: ["provider"] }));

const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });

/** The organization, with a client that has these roles. */
async function asCaller(clinic: Organization, roles: string[]) {
  const { id } = await clinic.addUser("Cal Caller", roles);
  return { ...clinic, client: await clinic.addClient(id) };
}

/** An email in the different ways in which people write it. */
const WAYS_TO_WRITE: [string, (email: string) => string][] = [
  ["as it is", (email) => email],
  ["in capitals", (email) => email.toUpperCase()],
  ["with spaces around it", (email) => ` \t${email} `],
];

describe("Creating an invite", () => {
  it("returns exactly its fields, and it can be read", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const email = anEmail();
    const role_names = ["provider", "organization_admin"];
    const created = await create(clinic, { email, display_name: "Ivy Invitee", role_names });
    expect(created.body).toEqual({
      id: expect.any(Number),
      email,
      display_name: "Ivy Invitee",
      roles: role_names,
      organization_id: clinic.id,
      organization_name: "Riverside Clinic",
      expires_at: aTimestamp,
      used_at: null,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
      mail_status: "off",
      mailed_at: null,
      created_by_user_id: clinic.admin.user_id,
    });
    expect(Object.keys(created.body).slice(-3)).toEqual(["mail_status", "mailed_at", "created_by_user_id"]);
    expect(await read(clinic, created.body)).toMatchObject({ status: 200, body: created.body });
  });

  it("does not make the invitee a user yet", async () => {
    const clinic = await anOrganization();
    const before = await given(clinic.client.get("/organization_users"));
    await clinic.addInvite();
    expect(await given(clinic.client.get("/organization_users"))).toEqual(before);
  });

  it("trims the email and puts it in lower case, and trims the display name", async () => {
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

  it("ignores unknown keys, so that callers cannot set the service's own fields", async () => {
    const clinic = await anOrganization();
    const other = await anOrganization("Hillside Clinic");
    const created = await create(clinic, {
      id: 1,
      roles: ["organization_admin"],
      organization_id: other.id,
      organization_name: "Hillside Clinic",
      expires_at: fromNow(1_000_000),
      used_at: fromNow(-1),
    });
    expect(created.body).toMatchObject({
      roles: ["provider"],
      organization_id: clinic.id,
      organization_name: clinic.name,
      used_at: null,
    });
    expect(Date.parse(created.body.expires_at)).toBe(Date.parse(created.body.created_at) + VALIDITY);
    expect(await listed(other)).toEqual([]);
  });
});

describe("The email of an invite", () => {
  it.each(WAYS_TO_WRITE)(
    "is refused while it has a pending invite or an account, written %s",
    async (_, write) => {
      const clinic = await anOrganization();
      const [invite, { email }] = [await clinic.addInvite(), await clinic.addProvider()];
      const again = {
        email: write(invite.email),
        display_name: "Usurper",
        role_names: ["organization_admin"],
      };
      expectRefusal(
        await changingNothing(() => create(clinic, again)),
        422,
        `${EMAIL}: ${hasPendingInvite(invite)}`,
      );
      expectRefusal(await changingNothing(() => create(clinic, { email: write(email) })), 422, HAS_ACCOUNT);
    },
  );

  it("is refused if it got an account while its invite expired", async () => {
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

  it("can be invited again when its invite was deleted", async () => {
    const clinic = await anOrganization();
    const first = await clinic.addInvite();
    expectGone(await remove(clinic, first));
    const second = await create(clinic, { email: first.email });
    expect(second.body.id).not.toBe(first.id);
    expect(await listed(clinic)).toEqual([second.body]);
  });
});

it("An invite may have any address that an HTML email field accepts", async () => {
  const clinic = await anOrganization();
  const addresses = ["ivy..invitee@example.org", ".ivy@example.org", `${"i".repeat(65)}@example.org`];
  for (const email of addresses)
    expect(await create(clinic, { email })).toMatchObject({ status: 201, body: { email } });
  expectRefusal(await create(clinic, { email: "ivé@example.org" }), 422, /organization_invite\.email/);
  const invites = await listed(clinic);
  expect(invites.map(({ email }: { email: string }) => email)).toEqual(addresses);
});

describe("The roles of an invite", () => {
  const LEVELS = ["provider_assistant", "provider", "organization_admin"];

  it.each<[string, string[], number]>([
    ["a provider_assistant", ["provider_assistant"], 0],
    ["a provider", ["provider"], 1],
    ["a provider who assists, too", ["provider_assistant", "provider"], 1],
    ["an organization_admin", ["organization_admin"], 2],
    ["an organization_admin who assists, too", ["provider_assistant", "organization_admin"], 2],
  ])("that %s assigns are listed, lowest first, and none is above its level", async (_, roles, level) => {
    const clinic = await asCaller(await anOrganization(), roles);
    const allowed = LEVELS.slice(0, level + 1);
    expect((await clinic.client.get("/roles")).body).toEqual({ roles: allowed });
    for (const role of allowed)
      expect((await create(clinic, { role_names: [role] })).body.roles).toEqual([role]);
    for (const role of LEVELS.slice(level + 1))
      for (const role_names of [[role], ["provider_assistant", role], [role, "provider_assistant"]])
        expectRefusal(
          await changingNothing(() => create(clinic, { role_names })),
          422,
          new RegExp(`^organization_invite\\.role_names: .*${role}`),
        );
  });
});

describe("An invite expires", () => {
  it.each([1, 3, 30])("after as many days as the operator sets: %i", async (days) => {
    const clinic = await anOrganization();
    const { fetcher } = workerWith({ INVITE_VALIDITY_DAYS: String(days) });
    const { status, body } = await create({ client: clinic.client.through(fetcher) });
    expect(status).toBe(201);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(days * DAY);
  });

  it.each(["0", "31", "-1", "1.5", "week"])(
    "never by an invalid setting: with %s no request is served",
    async (days) => {
      const clinic = await anOrganization();
      const { fetcher } = workerWith({ INVITE_VALIDITY_DAYS: days });
      const client = clinic.client.through(fetcher);
      expectRefusal(await changingNothing(() => create({ client })), 500, "Internal server error");
    },
  );

  it("and until the last moment it is listed, and blocks another one", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    travelToExpiry(invite, -1);
    expect(await listed(clinic)).toEqual([invite]);
    expectRefusal(
      await create(clinic, { email: invite.email }),
      422,
      `${EMAIL}: ${hasPendingInvite(invite)}`,
    );
    expect(await listed(clinic)).toEqual([invite]);
  });

  it.each([
    ["before the cron has run", 0],
    ["when the cron has run, however long ago that was", 1000 * DAY],
  ])(
    "and from then on it is not active, can be read, and blocks another one until it is deleted: %s",
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

  it("and is counted as expired and no longer as active, whatever happens to it", async () => {
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

  it("and does not change with an invite of another organization or another person", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization("Hillside Clinic")];
    const [ivy, ida] = [await clinic.addInvite(), await clinic.addInvite()];
    travelToExpiry(ida);
    await other.addInvite({ email: ivy.email });
    await clinic.addInvite();
    for (const invite of [ivy, ida])
      expect(await read(clinic, invite)).toMatchObject({ status: 200, body: invite });
  });
});

describe("The list of invites", () => {
  it("shows with status=expired those that were not used in time, by id, and no others", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization("Hillside Clinic")];
    const [used, removed] = [await clinic.addInvite(), await clinic.addInvite()];
    // It expires later than the next one, though it is older.
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

describe("Deleting an invite", () => {
  it("removes it from every path", async () => {
    const clinic = await anOrganization();
    const [invite, other] = [await clinic.addInvite(), await clinic.addInvite()];
    expectGone(await remove(clinic, invite));
    expectRefusal(await read(clinic, invite), 404);
    expectRefusal(await clinic.platform.get(`/invites/${invite.id}`), 404);
    expect(await listed(clinic)).toEqual([other]);
  });

  it("is refused for a used one, and changes nothing", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    await given(accept(invite));
    expectRefusal(await changingNothing(() => remove(clinic, invite)), 422, /used/);
  });
});

describe("Thirty invites of one email at once", () => {
  it.each<[string, (email: string, n: number) => string]>([
    ["the same way", (email) => email],
    ["in different cases", (email, n) => (n % 2 === 0 ? email : email.toUpperCase())],
  ])("create one, written %s, and the others get an error", async (_, write) => {
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

  it("create none while an expired one is there, and one when it was deleted", async () => {
    const clinic = await anOrganization();
    const expired = await clinic.addInvite();
    travelToExpiry(expired);
    const attempt = () => atOnce(30, () => create(clinic, { email: expired.email }));
    for (const refusal of await attempt())
      expectRefusal(refusal, 422, `${EMAIL}: ${hasExpiredInvite(expired)}`);
    expectGone(await remove(clinic, expired));
    const answers = await attempt();
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(29);
    expect(await listed(clinic)).toEqual(made.map(({ body }) => body));
  });

  it.each([
    ["an active one", "expires_at + 1"],
    ["an expired one", "1"],
  ])(
    "cannot leave two pending ones: the database itself refuses a second, also %s",
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

  it("make one in each of the organizations that invite it", async () => {
    const clinics = [await anOrganization(), await anOrganization("Hillside Clinic")];
    const email = anEmail();
    const answers = await Promise.all(
      clinics.flatMap((clinic) => [create(clinic, { email }), create(clinic, { email })]),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422]);
    for (const clinic of clinics) expect(await listed(clinic)).toMatchObject([{ email }]);
  });
});

it("Thirty requests at once delete an invite: one does, and the others find none", async () => {
  const clinic = await anOrganization();
  const invite = await clinic.addInvite();
  const answers = await atOnce(30, () => remove(clinic, invite));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(29).fill(404)]);
  expect(await listed(clinic)).toEqual([]);
});

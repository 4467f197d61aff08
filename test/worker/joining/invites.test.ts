import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/units.ts";
import { atOnce } from "../support/at_once.ts";
import { expectRefusal } from "../support/expectations.ts";
import { create, hasPendingInvite, listed } from "../support/invites.ts";
import { anOrganization } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { anEmail } from "../support/sign_in.ts";
import { changingNothing } from "../support/unchanged.ts";

const EMAIL = "organization_invite.email";

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

import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { DAY } from "../../../src/units.ts";
import { atOnce } from "../support/at_once.ts";
import { expectRefusal } from "../support/expectations.ts";
import { create, hasPendingInvite, listed } from "../support/invites.ts";
import { anOrganization, given } from "../support/organization.ts";
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

it("An invite expires after INVITE_VALIDITY_DAYS, and every request fails if these are invalid", async () => {
  const clinic = await anOrganization();
  const createWith = (INVITE_VALIDITY_DAYS: string) =>
    create({ client: clinic.client.through(workerWith({ INVITE_VALIDITY_DAYS }).fetcher) });
  for (const days of [1, 30]) {
    const { expires_at, created_at } = await given(createWith(String(days)));
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(days * DAY);
  }
  for (const days of ["0", "31", "-1", "1.5", "week"])
    expectRefusal(await changingNothing(() => createWith(days)), 500, "Internal server error");
});

it("POST /invites, thirty times at once for one email in different cases, creates one invite and refuses the others", async () => {
  const clinic = await anOrganization();
  const email = anEmail();
  const answers = await atOnce(30, (n) => create(clinic, { email: n % 2 ? email.toUpperCase() : email }));
  const made = answers.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  for (const refusal of answers.filter(({ status }) => status !== 201))
    expectRefusal(refusal, 422, `${EMAIL}: ${hasPendingInvite(made[0]?.body)}`);
  expect(await listed(clinic)).toEqual(made.map(({ body }) => body));
});

it.each([
  ["an active one", "expires_at + 1"],
  ["an expired one", "1"],
])("The database itself refuses a second pending invite for an email: %s", async (_, expires_at) => {
  const { id } = await (await anOrganization()).addInvite();
  const second = env.DB.prepare(
    `insert into invites (organization_id, created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at)
    select organization_id, created_by_user_id, email, display_name, roles, ${expires_at}, created_at, updated_at from invites
    where id = ?`,
  );
  await expect(second.bind(id).run()).rejects.toThrow(/UNIQUE constraint failed/);
});

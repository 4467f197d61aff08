import { env } from "cloudflare:workers";
import { base64url, decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { everyRow } from "../support/database.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, keepingInvite, tokenOf, travelToExpiry } from "../support/invites.ts";
import { add, shownMember } from "../support/members.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const offer = ({ platform }: Pick<Organization, "platform">, id: unknown) => platform.get(`/invites/${id}`);

const read = ({ client }: Organization, { id }: { id: number }) => given(client.get(`/invites/${id}`));

async function members({ client }: Organization) {
  return (await given(client.get("/organization_users"))).organization_users;
}

async function rooms({ client }: Organization) {
  return (await given(client.get("/waiting_rooms"))).waiting_rooms;
}

describe("GET /organizations/{organization_id}/invites/{id}", () => {
  it("returns what the organization sees, plus accept_url", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const { body } = await offer(clinic, invite.id);
    expect(body).toEqual({ ...invite, accept_url: expect.any(String) });
    const token = await tokenOf(invite);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(body.accept_url).toBe(`https://app.test/invites/accept?token=${token}`);
  });

  it.each([
    ["https://clinic.test/", "https://clinic.test/invites/accept"],
    ["https://clinic.test/visits", "https://clinic.test/visits/invites/accept"],
    ["http://localhost:3000", "http://localhost:3000/invites/accept"],
  ])("returns a link to the web app: %s", async (APP_URL, address) => {
    const clinic = await anOrganization();
    const { id } = await clinic.addInvite();
    const platform = clinic.platform.through(workerWith({ APP_URL }).fetcher);
    const { body } = await offer({ platform }, id);
    expect(body.accept_url.split("?token=")[0]).toBe(address);
  });

  it("returns a signed token without personal data, which is not stored", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const token = await changingNothing(() => tokenOf(invite));
    const told = JSON.stringify([decodeProtectedHeader(token), decodeJwt(token)]);
    for (const personal of [invite.email, invite.display_name, clinic.name])
      expect(told).not.toContain(personal);

    await given(acceptToken(token));
    const stored = JSON.stringify(await everyRow());
    expect(stored).toContain(invite.email);
    for (const part of [token, ...token.split(".")]) expect(stored).not.toContain(part);
  });

  it("returns used and expired invites as well", async () => {
    const clinic = await anOrganization();
    const [used, expired] = [await clinic.addInvite(), await clinic.addInvite()];
    await given(accept(used));
    travelToExpiry(expired);
    for (const invite of [used, expired])
      expect(await offer(clinic, invite.id)).toMatchObject({
        status: 200,
        body: { ...(await read(clinic, invite)), accept_url: expect.any(String) },
      });
  });
});

describe("POST /invites/accept", () => {
  it("makes the invitee a provider with a personal room, whatever the other roles", async () => {
    const clinic = await anOrganization();
    const role_names = ["provider_assistant", "provider", "organization_admin"];
    const invite = await clinic.addInvite({ display_name: "Ivy Invitee", role_names });
    const before = await rooms(clinic);
    const accepted = await accept(invite);
    expect(accepted.body).toMatchObject({
      organization_id: clinic.id,
      email: invite.email,
      display_name: "Ivy Invitee",
      roles: role_names,
      waiting_room_slug: `${clinic.slug}--ivy-invitee`,
    });
    expect(await members(clinic)).toEqual([shownMember(clinic.admin), shownMember(accepted.body)]);
    const room = await given(clinic.client.get(`/waiting_rooms/${clinic.slug}--ivy-invitee`));
    expect(room).toMatchObject({ organization_id: null, user_id: accepted.body.user_id, is_active: true });
    expect(await rooms(clinic)).toEqual([...before, room]);
  });

  it.each(["provider_assistant", "organization_admin"])("makes a %s without a room", async (role) => {
    const clinic = await anOrganization();
    const before = await rooms(clinic);
    const accepted = await accept(await clinic.addInvite({ role_names: [role] }));
    expect(accepted.body).toMatchObject({ roles: [role], waiting_room_slug: null });
    expect(await members(clinic)).toEqual([shownMember(clinic.admin), shownMember(accepted.body)]);
    expect(await rooms(clinic)).toEqual(before);
  });
});

describe("POST /invites/accept by an existing member", () => {
  /** A member whose invite is still pending, although the email already has an account. */
  async function aMemberWithInvite(memberRoles: string[], role_names: string[]) {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite({ display_name: "Ivy Invitee", role_names });
    const member = await keepingInvite(invite, () =>
      given(add(clinic, { email: invite.email, display_name: "Dr. Ivy Member", roles: memberRoles })),
    );
    return { clinic, invite, member };
  }

  it.each([
    [["provider"], ["organization_admin"], ["provider", "organization_admin"]],
    [["organization_admin"], ["provider_assistant"], ["provider_assistant", "organization_admin"]],
    [["provider"], ["provider"], ["provider"]],
    [["provider_assistant"], ["provider"], ["provider_assistant", "provider"]],
    [["organization_admin"], ["provider"], ["provider", "organization_admin"]],
  ])(
    "keeps the account with the roles %s, adds %s, and creates a room for a new provider",
    async (had, offered, roles) => {
      const { clinic, invite, member } = await aMemberWithInvite(had, offered);
      const before = await rooms(clinic);
      const accepted = await accept(invite);
      const slug = roles.includes("provider") ? `${clinic.slug}--dr-ivy-member` : null;
      expect(accepted.body).toEqual({ ...member, roles, waiting_room_slug: slug });
      expect(await members(clinic)).toEqual([shownMember(clinic.admin), shownMember(accepted.body)]);
      expect((await read(clinic, invite)).used_at).toEqual(aTimestamp);
      const after = await rooms(clinic);
      expect(after.slice(0, before.length)).toEqual(before);
      const added = after.slice(before.length);
      const room = { user_id: member.user_id, name: "Dr. Ivy Member", slug, is_active: true };
      expect(added).toMatchObject(slug === member.waiting_room_slug ? [] : [room]);
    },
  );

  it("keeps the assists of the member", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const invite = await clinic.addInvite({ role_names: ["provider"] });
    const assistant = { display_name: "Al Assistant", roles: ["provider_assistant"], assists: [paula.id] };
    const member = await keepingInvite(invite, () =>
      given(add(clinic, { email: invite.email, ...assistant })),
    );
    const accepted = await given(accept(invite));
    const client = await clinic.addClient(member.id);
    expect((await given(client.get("/organization_users"))).organization_users).toEqual([
      shownMember(paula),
      shownMember({ ...accepted, assists: [paula.id] }),
    ]);
  });
});

describe("POST /invites/accept is refused", () => {
  it("with 422 for a used invite, even after its expiry", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const token = await tokenOf(invite);
    await given(acceptToken(token));
    expectRefusal(await changingNothing(() => acceptToken(token)), 422, /used/);
    travelToExpiry(invite);
    expectRefusal(await changingNothing(() => accept(invite)), 422, /used/);
  });

  it("with 422 for an expired invite, from that moment on and not before", async () => {
    const clinic = await anOrganization();
    const [late, later, inTime] = [
      await clinic.addInvite(),
      await clinic.addInvite(),
      await clinic.addInvite(),
    ];
    const tokens = [await tokenOf(late), await tokenOf(later)];
    travelToExpiry(inTime, -1);
    expect(await accept(inTime)).toMatchObject({ status: 200 });
    travelToExpiry(late);
    await changingNothing(async () => {
      expectRefusal(await acceptToken(tokens[0]), 422, /expired/);
      travelToExpiry(later, 86_400_000);
      expectRefusal(await acceptToken(tokens[1]), 422, /expired/);
    });
  });

  it("with 404 for a deleted invite", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const token = await tokenOf(invite);
    expectGone(await clinic.client.delete(`/invites/${invite.id}`));
    await clinic.addInvite({ email: invite.email });
    expectRefusal(await changingNothing(() => acceptToken(token)), 404);
  });
});

describe("POST /invites/accept after the database was restored to a time before the invite", () => {
  /** The situation after a restore: the invite never existed, and the next one gets its id. */
  async function forget({ id }: { id: number }) {
    await env.DB.batch([
      env.DB.prepare("delete from invites where id = ?").bind(id),
      env.DB.prepare("update sqlite_sequence set seq = ? where name = 'invites'").bind(id - 1),
    ]);
  }

  it.each<[string, (clinic: Organization) => Promise<Organization>, number]>([
    ["the same organization", async (clinic) => clinic, 1],
    ["another organization, even in the same millisecond", () => anOrganization("Hillside Clinic"), 0],
  ])("refuses the lost link for an invite of %s that has the same id now", async (_, another, minutes) => {
    travelTo("2026-01-31T09:30:00.000Z");
    const clinic = await anOrganization();
    const inviting = await another(clinic);
    const lost = await clinic.addInvite({ role_names: ["organization_admin"] });
    const token = await tokenOf(lost);
    await forget(lost);
    travelTo(fromNow(minutes));
    const invite = await inviting.addInvite();
    expect(invite.id).toBe(lost.id);
    expectRefusal(await changingNothing(() => acceptToken(token)), 404);
    expect(await read(inviting, invite)).toEqual(invite);
    expect(await accept(invite)).toMatchObject({ status: 200, body: { email: invite.email } });
  });
});

describe("POST /invites/accept with a forged token", () => {
  const { INVITE_TOKEN_SECRET } = env;

  async function anInvitation() {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const token = await tokenOf(invite);
    const [header = "", payload = "", signature = ""] = token.split(".");
    return { clinic, invite, token, header, payload, signature, typ: decodeProtectedHeader(token).typ };
  }

  type Invitation = Awaited<ReturnType<typeof anInvitation>>;

  /** A token as the service signs it, except for the changes. */
  const signed = (
    { token }: Invitation,
    {
      header = {},
      claims = {},
      secret = INVITE_TOKEN_SECRET,
    }: { header?: Partial<JWTHeaderParameters>; claims?: object; secret?: string },
  ) =>
    new SignJWT({ ...decodeJwt(token), ...claims })
      .setProtectedHeader({ ...decodeProtectedHeader(token), ...header } as JWTHeaderParameters)
      .sign(new TextEncoder().encode(secret));

  const encoded = (json: unknown) => base64url.encode(JSON.stringify(json));

  const flipped = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);

  it("would succeed without the change", async () => {
    const invitation = await anInvitation();
    expect(await signed(invitation, {})).toBe(invitation.token);
    expect(await acceptToken(await signed(invitation, {}))).toMatchObject({ status: 200 });
  });

  const FORGERIES: Record<string, (invitation: Invitation) => Promise<string> | string> = {
    "signed with another secret": (it) => signed(it, { secret: "another-secret-of-at-least-32-characters" }),
    "signed with the secret and a space": (it) => signed(it, { secret: `${INVITE_TOKEN_SECRET} ` }),
    "signed by another algorithm of the family": (it) => signed(it, { header: { alg: "HS512" } }),
    "of another type": (it) => signed(it, { header: { typ: "JWT" } }),
    "without a type": (it) => signed(it, { header: { typ: undefined } }),
    "not signed: alg none": ({ payload, typ }) => `${encoded({ alg: "none", typ })}.${payload}.`,
    "without its signature": ({ header, payload }) => `${header}.${payload}.`,
    "with a truncated signature": ({ token }) => token.slice(0, -1),
    "with a changed signature": ({ header, payload, signature }) =>
      `${header}.${payload}.${flipped(signature)}`,
    "with a changed sub": ({ header, invite, signature }) =>
      `${header}.${encoded({ sub: String(invite.id + 1) })}.${signature}`,
    "for an invite that never existed": (it) => signed(it, { claims: { sub: "999999999" } }),
    "with a sub that is not a number": (it) => signed(it, { claims: { sub: "x" } }),
    "for another organization": (it) => signed(it, { claims: { organization_id: it.clinic.id + 1 } }),
    "for an invite created a millisecond later": (it) =>
      signed(it, { claims: { created_at: Date.parse(it.invite.created_at) + 1 } }),
    "with the time as text": (it) =>
      signed(it, { claims: { created_at: String(Date.parse(it.invite.created_at)) } }),
    "that has expired": (it) => signed(it, { claims: { exp: 1 } }),
    "of two dots": () => "..",
    "of garbage": () => "garbage",
    "of garbage in 50,000 parts": () => "g.".repeat(50_000),
    "that is empty": () => "",
  };

  it.each(Object.entries(FORGERIES))("%s is refused with 404, and changes nothing", async (_, forge) => {
    const invitation = await anInvitation();
    const forged = await forge(invitation);
    expect(forged).not.toBe(invitation.token);
    expectRefusal(await changingNothing(() => acceptToken(forged)), 404);
    expect(await read(invitation.clinic, invitation.invite)).toEqual(invitation.invite);
  });

  it("with the payload of another invite is refused with 404, and accepts neither invite", async () => {
    const [one, other] = [await anInvitation(), await anInvitation()];
    const spliced = `${one.header}.${other.payload}.${one.signature}`;
    expectRefusal(await changingNothing(() => acceptToken(spliced)), 404);
  });
});

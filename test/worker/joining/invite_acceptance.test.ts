import { env } from "cloudflare:workers";
import { base64url, decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { everyRow } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, tokenOf } from "../support/invites.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const offer = ({ platform }: Pick<Organization, "platform">, id: unknown) => platform.get(`/invites/${id}`);

const read = ({ client }: Organization, { id }: { id: number }) => given(client.get(`/invites/${id}`));

describe("GET /organizations/{organization_id}/invites/{id}", () => {
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

  const FORGERIES: Record<string, (invitation: Invitation) => Promise<string> | string> = {
    "signed with another secret": (it) => signed(it, { secret: "another-secret-of-at-least-32-characters" }),
    "signed by another algorithm of the family": (it) => signed(it, { header: { alg: "HS512" } }),
    "of another type": (it) => signed(it, { header: { typ: "JWT" } }),
    "not signed: alg none": ({ payload, typ }) => `${encoded({ alg: "none", typ })}.${payload}.`,
    "without its signature": ({ header, payload }) => `${header}.${payload}.`,
    "with a changed signature": ({ header, payload, signature }) =>
      `${header}.${payload}.${flipped(signature)}`,
    "with a changed sub": ({ header, invite, signature }) =>
      `${header}.${encoded({ sub: String(invite.id + 1) })}.${signature}`,
    "with the payload of another invite": async ({ header, signature }) =>
      `${header}.${(await anInvitation()).payload}.${signature}`,
    "for an invite that never existed": (it) => signed(it, { claims: { sub: "999999999" } }),
    "for another organization": (it) => signed(it, { claims: { organization_id: it.clinic.id + 1 } }),
    "for an invite created a millisecond later": (it) =>
      signed(it, { claims: { created_at: Date.parse(it.invite.created_at) + 1 } }),
    "that has expired": (it) => signed(it, { claims: { exp: 1 } }),
    "of garbage in 50,000 parts": () => "g.".repeat(50_000),
    "that is empty": () => "",
  };

  it.each(Object.entries(FORGERIES))(
    "%s is refused with 404 and changes nothing, unlike the invite's own",
    async (_, forge) => {
      const invitation = await anInvitation();
      const forged = await forge(invitation);
      expect(forged).not.toBe(invitation.token);
      expectRefusal(await changingNothing(() => acceptToken(forged)), 404);
      expect(await signed(invitation, {})).toBe(invitation.token);
      expect(await acceptToken(invitation.token)).toMatchObject({ status: 200 });
    },
  );
});

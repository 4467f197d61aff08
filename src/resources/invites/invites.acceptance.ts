import { and, eq, exists, isNotNull, notExists, sql } from "drizzle-orm";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runFirst } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { invites, organizationUsers } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { Settings } from "../../settings.ts";
import type { CreatedUser } from "../organization_users/organization_users.schemas.ts";
import { createdUser, joinOrganization, membershipOf } from "../organization_users/organization_users.sql.ts";
import type { InviteWithAcceptUrl } from "./invites.schemas.ts";
import { inviteById, inviteWhere, isExpired } from "./invites.sql.ts";

/** Keeps tokens of other kinds that are signed with the same secret from counting as invites (RFC 8725, 3.11). */
const TOKEN_TYPE = "invite+jwt";

/** An invite with the link to mail to the invitee. */
export async function requireInviteWithAcceptUrl(
  { db, settings }: Context,
  id: number,
): Promise<InviteWithAcceptUrl> {
  const invite = await runFirst(db, inviteById({ id }));
  if (!invite) throw notFound("Invite");
  const token = await new SignJWT()
    .setProtectedHeader({ alg: "HS256", typ: TOKEN_TYPE })
    .setSubject(String(id))
    .sign(secretKey(settings));
  return { ...invite, accept_url: `${settings.APP_URL}/invites/accept?token=${token}` };
}

/**
 * Makes the invitee a user of the organization. An existing member keeps their account and gains the roles.
 *
 * @throws ApiError 404 where the token is forged or the invite was removed, 422 where it is used or expired
 */
export async function acceptInvite({ db, now, settings }: Context, token: string): Promise<CreatedUser> {
  const id = await invitedBy(settings, token);
  const invitee = await runFirst(db, inviteeOf({ id }));
  if (!invitee) throw notFound("Invite");
  const { organization_id, email, roles } = invitee;
  const display_name = invitee.member_name ?? invitee.display_name;
  return admitInvitee(db, {
    id,
    organization_id,
    email,
    display_name,
    roles: JSON.stringify(roles),
    slug_name: kebabCase(display_name, "room"),
    now,
  });
}

const memberName = builder
  .select({ display_name: organizationUsers.display_name })
  .from(organizationUsers)
  .where(eq(organizationUsers.id, membershipOf(invites.organization_id, invites.email)));

const inviteeOf = namedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder
    .select({
      organization_id: invites.organization_id,
      email: invites.email,
      display_name: invites.display_name,
      roles: invites.roles,
      // What the organization calls the invitee already; null for someone who is not a member.
      member_name: sql<string | null>`${memberName}`.as("member_name"),
    })
    .from(invites)
    .where(eq(invites.id, id)),
);

/** The id of the invite, and the member that its invitee becomes: see NewMember. */
interface Invitee {
  id: number;
  organization_id: number;
  email: string;
  display_name: string;
  roles: string;
  slug_name: string;
  now: number;
}

const admitInvitee = namedWrite((invitee: Placeholders<Invitee>) => {
  const { id, organization_id, email, now } = invitee;
  const invite = eq(invites.id, id);
  return {
    rules: [
      { broken: notExists(inviteWhere(invite)), refusal: () => notFound("Invite") },
      {
        broken: exists(inviteWhere(and(invite, isNotNull(invites.used_at)))),
        refusal: () => unprocessable("The invite was used"),
      },
      {
        broken: exists(inviteWhere(and(invite, isExpired(now)))),
        refusal: () => unprocessable("The invite has expired; ask for a new one"),
      },
    ],
    statements: [
      ...joinOrganization(invitee),
      builder
        .update(invites)
        .set({ used_at: sql`${now}`, updated_at: sql`${now}` })
        .where(invite),
      createdUser(organization_id, email),
    ],
  };
});

async function invitedBy(settings: Settings, token: string): Promise<number> {
  try {
    const { payload } = await jwtVerify(token, secretKey(settings), {
      algorithms: ["HS256"],
      typ: TOKEN_TYPE,
    });
    return Number(payload.sub);
  } catch (error) {
    if (error instanceof errors.JOSEError) throw notFound("Invite");
    throw error;
  }
}

const secretKey = ({ INVITE_TOKEN_SECRET }: Settings) => new TextEncoder().encode(INVITE_TOKEN_SECRET);

import { and, eq, exists, isNotNull, notExists, type SQL, sql } from "drizzle-orm";
import { errors, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runFirst, type Values } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { invites, organizationUsers } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { id, pathId } from "../../http/wire.ts";
import type { Settings } from "../../settings.ts";
import type { CreatedUser } from "../organization_users/organization_users.schemas.ts";
import { accountOf, createdUser, joinOrganization } from "../organization_users/organization_users.sql.ts";
import type { InviteWithAcceptUrl } from "./invites.schemas.ts";
import { inviteById, inviteWhere, isExpired, ownInvite } from "./invites.sql.ts";

/** Keeps tokens of other kinds that are signed with the same secret from counting as invites (RFC 8725, 3.11). */
const TOKEN_TYPE = "invite+jwt";

/**
 * A token names an invite by more than its id. After the database was restored to an earlier time, ids are given again,
 * and an old link must not fit another invite.
 */
const tokenClaims = z.object({ sub: pathId, organization_id: id, created_at: z.int() });

interface NamedInvite {
  id: number;
  organization_id: number;
  created_at: number;
}

const isNamed = ({ id, organization_id, created_at }: Values<NamedInvite>): SQL | undefined =>
  and(ownInvite(organization_id, id), eq(invites.created_at, created_at));

/** An invite with the link to mail to the invitee. */
export async function requireInviteWithAcceptUrl(
  { db, settings }: Context,
  id: number,
): Promise<InviteWithAcceptUrl> {
  const invite = await runFirst(db, inviteById({ id }));
  if (!invite) throw notFound("Invite");
  const { organization_id, created_at } = invite;
  const token = await new SignJWT({ sub: String(id), organization_id, created_at })
    .setProtectedHeader({ alg: "HS256", typ: TOKEN_TYPE })
    .sign(secretKey(settings));
  return { ...invite, accept_url: `${settings.APP_URL}/invites/accept?token=${token}` };
}

/**
 * Makes the invitee a user of the organization. An existing member keeps their account and gains the roles. Somebody
 * whose membership has ended is the same organization user again.
 *
 * @throws ApiError 404 if the token is forged or its invite does not exist, 422 if it is used or expired
 */
export async function acceptInvite({ db, now, settings }: Context, token: string): Promise<CreatedUser> {
  const named = await inviteNamedBy(settings, token);
  const invitee = await runFirst(db, inviteeOf(named));
  if (!invitee) throw notFound("Invite");
  const { email, roles } = invitee;
  const display_name = invitee.member_name ?? invitee.display_name;
  return admitInvitee(db, {
    ...named,
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
  .where(eq(organizationUsers.id, accountOf(invites.organization_id, invites.email)));

const inviteeOf = namedQuery((named: Placeholders<NamedInvite>) =>
  builder
    .select({
      email: invites.email,
      display_name: invites.display_name,
      roles: invites.roles,
      // What the organization calls the invitee already; null for someone who is not a member.
      member_name: sql<string | null>`${memberName}`.as("member_name"),
    })
    .from(invites)
    .where(isNamed(named)),
);

/** The invite, and the member that its invitee becomes: see NewMember. */
interface Invitee extends NamedInvite {
  email: string;
  display_name: string;
  roles: string;
  slug_name: string;
  now: number;
}

const admitInvitee = namedWrite((invitee: Placeholders<Invitee>) => {
  const { organization_id, email, now } = invitee;
  const invite = isNamed(invitee);
  return {
    rules: [
      { broken: notExists(inviteWhere(invite)), refusal: () => notFound("Invite") },
      {
        broken: exists(inviteWhere(and(invite, isNotNull(invites.used_at)))),
        refusal: () => unprocessable("The invite was used; sign in instead, or ask for a new one"),
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

async function inviteNamedBy(settings: Settings, token: string): Promise<NamedInvite> {
  try {
    const { payload } = await jwtVerify(token, secretKey(settings), {
      algorithms: ["HS256"],
      typ: TOKEN_TYPE,
    });
    const { sub, organization_id, created_at } = tokenClaims.parse(payload);
    return { id: sub, organization_id, created_at };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) throw notFound("Invite");
    throw error;
  }
}

const secretKey = ({ INVITE_TOKEN_SECRET }: Settings) => new TextEncoder().encode(INVITE_TOKEN_SECRET);

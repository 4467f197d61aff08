import { eq, sql } from "drizzle-orm";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "../../context.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { invites, organizationUsers } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { Settings } from "../../settings.ts";
import type { CreatedUser } from "../organization_users/organization_users.schemas.ts";
import {
  joinOrganization,
  membershipOf,
  selectCreatedUser,
} from "../organization_users/organization_users.service.ts";
import type { Invite } from "./invites.schemas.ts";
import { isExpired, shown } from "./invites.service.ts";

/** Keeps tokens of other kinds, were they signed with the same secret, from being taken for invites (RFC 8725, 3.11). */
const TOKEN_TYPE = "invite+jwt";

/** An invite with the address that its invitee is to be mailed. */
export async function offerInvite(
  { db, settings }: Context,
  id: number,
): Promise<Invite & { accept_url: string }> {
  const invite = await db.select(shown).from(invites).where(eq(invites.id, id)).get();
  if (!invite) throw notFound("Invite");
  const token = await new SignJWT()
    .setProtectedHeader({ alg: "HS256", typ: TOKEN_TYPE })
    .setSubject(String(id))
    .sign(secretKey(settings));
  return { ...invite, accept_url: `${settings.APP_URL}/invites/accept?token=${token}` };
}

/**
 * Makes the invitee a user of the organization. Who is one already keeps the account, and gains the roles.
 *
 * @throws ApiError 404 where the token is forged or the invite was removed, 422 where it is used or expired
 */
export async function acceptInvite(context: Context, token: string): Promise<CreatedUser> {
  const { db, now, settings } = context;
  const ofInvite = eq(invites.id, await invitedBy(settings, token));
  const invite = await db
    .select({
      organization_id: invites.organization_id,
      email: invites.email,
      display_name: invites.display_name,
      roles: invites.roles,
      known_as: sql<string | null>`(
        select display_name from ${organizationUsers}
        where id = ${membershipOf(sql`invites.organization_id`, sql`invites.email`)})`.as("known_as"),
    })
    .from(invites)
    .where(ofInvite)
    .get();
  if (!invite) throw notFound("Invite");
  const { organization_id, email } = invite;
  return writeUnderRules(
    db,
    [
      { broken: sql`not exists (select 1 from ${invites} where ${ofInvite})`, error: notFound("Invite") },
      {
        broken: sql`exists (select 1 from ${invites} where ${ofInvite} and used_at is not null)`,
        error: unprocessable("The invite was used"),
      },
      {
        broken: sql`exists (select 1 from ${invites} where ${ofInvite} and ${isExpired(now)})`,
        error: unprocessable("The invite has expired; ask for a new one"),
      },
    ],
    [
      ...joinOrganization(context, { ...invite, display_name: invite.known_as ?? invite.display_name }),
      db.update(invites).set({ used_at: now, updated_at: now }).where(ofInvite),
      selectCreatedUser(db, organization_id, email),
    ],
  );
}

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

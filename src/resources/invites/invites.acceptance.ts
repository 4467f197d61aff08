import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import { errors, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { builder, type Placeholders, preparedQuery, runFirst, type Values } from "../../database/queries.ts";
import { invites, users } from "../../database/schema.ts";
import { id, pathId } from "../../http/wire.ts";
import type { Settings } from "../../settings.ts";
import {
  memberEntry,
  membershipReads,
  membershipWrites,
  userByEmail,
} from "../organization_users/organization_users.membership.ts";
import { joinMember } from "../organization_users/organization_users.merge.ts";
import type { User } from "../organization_users/organization_users.schemas.ts";
import { useInvite } from "./invites.merge.ts";
import { inviteNotFound } from "./invites.refusals.ts";
import type { InviteWithAcceptUrl } from "./invites.schemas.ts";
import { inviteById, inviteWrites, ownInvite } from "./invites.sql.ts";

/** Keeps tokens of other kinds that are signed with the same secret from counting as invites (RFC 8725, 3.11). */
const TOKEN_TYPE = "invite+jwt";

/**
 * A token names an invite by more than its id. After the database was restored to an earlier time, ids are given again,
 * and an old link must not fit another invite.
 */
const tokenClaims = z.object({ sub: pathId, organization_id: id, created_at: z.int() });

/** The invite that a token names, as values of a query. */
interface InviteOfToken {
  id: number;
  organization_id: number;
  created_at: number;
}

const isOfToken = ({ id, organization_id, created_at }: Values<InviteOfToken>): SQL | undefined =>
  and(ownInvite(organization_id, id), eq(invites.created_at, created_at));

/** An invite with the link to mail to the invitee. */
export async function requireInviteWithAcceptUrl(
  { db, settings }: Context,
  id: number,
): Promise<InviteWithAcceptUrl> {
  const invite = await runFirst(db, inviteById({ id }));
  if (!invite) throw inviteNotFound();
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
export async function acceptInvite(context: Context, token: string): Promise<User> {
  const { db, now, settings } = context;
  const claims = await verifyToken(settings, token);
  return decideAndWrite(
    db,
    [inviteOfToken(claims), ...membershipOfInvitee(claims)],
    async ([invite], [member], [room]) => {
      if (!invite) throw inviteNotFound();
      const used = useInvite(invite, now);
      const next = joinMember(member, invite, now);
      return {
        writes: [
          ...(await membershipWrites({ member, room }, next, now)),
          inviteWrites.update(invite, used),
          userByEmail(next),
        ],
        entries: [memberEntry(context, "create", next)],
      };
    },
  );
}

const inviteOfToken = preparedQuery((claims: Placeholders<InviteOfToken>) =>
  builder.select(getTableColumns(invites)).from(invites).where(isOfToken(claims)),
);

const membershipOfInvitee = membershipReads((claims: Placeholders<InviteOfToken>) => ({
  organization_id: claims.organization_id,
  user_id: builder
    .select({ id: users.id })
    .from(invites)
    .innerJoin(users, eq(users.email, invites.email))
    .where(isOfToken(claims)),
}));

/** @throws ApiError 404 if the token is forged */
async function verifyToken(settings: Settings, token: string): Promise<InviteOfToken> {
  try {
    const { payload } = await jwtVerify(token, secretKey(settings), {
      algorithms: ["HS256"],
      typ: TOKEN_TYPE,
    });
    const { sub, organization_id, created_at } = tokenClaims.parse(payload);
    return { id: sub, organization_id, created_at };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) throw inviteNotFound();
    throw error;
  }
}

const secretKey = ({ INVITE_TOKEN_SECRET }: Settings) => new TextEncoder().encode(INVITE_TOKEN_SECRET);

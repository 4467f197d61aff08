import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  runAll,
  runFirst,
  type Values,
} from "../../database/queries.ts";
import { invites, users } from "../../database/schema.ts";
import { inPlace } from "../../directory/in_place.ts";
import { placeOfOrganization } from "../../directory/places.ts";
import {
  memberEntry,
  membershipReads,
  membershipWrites,
  userByEmail,
} from "../organization_users/organization_users.membership.ts";
import { joinMember } from "../organization_users/organization_users.merge.ts";
import type { User } from "../organization_users/organization_users.schemas.ts";
import { type InviteOfToken, verifyToken, withAcceptUrl } from "./invites.links.ts";
import { useInvite } from "./invites.merge.ts";
import { inviteNotFound } from "./invites.refusals.ts";
import type { ActiveInvitesQuery, InviteWithAcceptUrl } from "./invites.schemas.ts";
import { activeInvitesAfter, inviteById, inviteWrites, ownInvite } from "./invites.sql.ts";

const isOfToken = ({ id, organization_id, created_at, resent_at }: Values<InviteOfToken>): SQL | undefined =>
  and(
    ownInvite(organization_id, id),
    eq(invites.created_at, created_at),
    sql`${invites.resent_at} is ${resent_at}`,
  );

/** An invite with the link to mail to the invitee. */
export async function requireInviteWithAcceptUrl(
  { db, settings }: Context,
  id: number,
): Promise<InviteWithAcceptUrl> {
  const invite = await runFirst(db, inviteById({ id }));
  if (!invite) throw inviteNotFound();
  return withAcceptUrl(settings, invite);
}

/** The next active invites of all organizations after an id, and the id after which to ask next. */
export async function listInvitesWithAcceptUrls(
  { db, shards, settings, now }: Context,
  { after, per_page }: ActiveInvitesQuery,
): Promise<{ invites: InviteWithAcceptUrl[]; next_after: number }> {
  const ask = (each: Database) => runAll(each, activeInvitesAfter({ after, now, limit: per_page }));
  const pages = await Promise.all(
    shards ? shards.numbers.map((shard) => ask(shards.at(shard).db)) : [ask(db)],
  );
  const page = pages
    .flat()
    .sort((one, other) => one.id - other.id)
    .slice(0, per_page);
  const invites = await Promise.all(page.map((invite) => withAcceptUrl(settings, invite)));
  return { invites, next_after: page.at(-1)?.id ?? after };
}

/**
 * Makes the invitee a user of the organization. An existing member keeps their account and gains the roles. Somebody
 * whose membership has ended is the same organization user again.
 *
 * @throws ApiError 404 if the token is forged or its invite does not exist, 422 if it is used or expired
 */
export async function acceptInvite(context: Context, token: string): Promise<User> {
  const claims = await verifyToken(context.settings, token);
  return inPlace(context, placeOfOrganization(claims.organization_id), (there) => acceptHere(there, claims));
}

function acceptHere(context: Context, claims: InviteOfToken): Promise<User> {
  const { db, now } = context;
  return decideAndWrite(
    db,
    [inviteOfToken(claims), ...membershipOfInvitee(claims)],
    async ([invite], [member], [room]) => {
      if (!invite) throw inviteNotFound();
      const used = useInvite(invite, now);
      const next = joinMember(member, invite, now);
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
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

import { and, getTableColumns, type SQL } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, hasValues, isSame } from "../../database/expressions.ts";
import { inTime } from "../../database/in_time.ts";
import { builder, type Placeholders, requireFirst, runAll, type Values } from "../../database/queries.ts";
import { rowsWhere } from "../../database/selects.ts";
import { logFault } from "../../http/log.ts";
import { writePositions } from "../../http/positions.ts";
import type { OwnPath } from "../../http/wire.ts";
import { accountIdOf } from "../../organization/members/members.sql.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { suspensionOf } from "../../organization/organizations/organizations.sql.ts";
import { DATABASE_TIMEOUT } from "../../tuning.ts";
import {
  memberEntry,
  membershipReads,
  membershipWrites,
  userWritten,
} from "../memberships/memberships.sql.ts";
import { joinMember } from "../organization_users/organization_users.merge.ts";
import type { OrganizationUser } from "../organization_users/organization_users.schemas.ts";
import { useInvite } from "./invites.merge.ts";
import { inviteNotFound } from "./invites.refusals.ts";
import type { ActiveInvitesQuery } from "./invites.schemas.ts";
import { activeInvitesAfter, inviteWrites, mailedInviteById } from "./invites.sql.ts";
import { invites } from "./invites.table.ts";
import { type InviteOfToken, verifyToken, withAcceptUrl } from "./invites.tokens.ts";

const isOfToken = ({ id, organization_id, created_at, resent_at }: Values<InviteOfToken>): SQL | undefined =>
  and(hasValues(invites, { organization_id, id, created_at }), isSame(invites.resent_at, resent_at));

export async function requireInviteWithAcceptUrl({ db, settings }: Context, path: OwnPath) {
  return withAcceptUrl(settings, await requireFirst(db, mailedInviteById(path), inviteNotFound));
}

/** A database that is down or slow is left out: its position stays, so its invites come on a later page. */
export async function listInvitesWithAcceptUrls(context: Context, { after, per_page }: ActiveInvitesQuery) {
  const { settings, now } = context;
  const found = await fromEachShard(context, async ({ db, shard }) => {
    const rows = await runAll(db, activeInvitesAfter({ after: after.get(shard) ?? 0, now, limit: per_page }));
    return rows.map((invite) => ({ shard, invite }));
  });
  const page = found
    .flat()
    .sort((one, other) => one.invite.id - other.invite.id)
    .slice(0, per_page);
  const read = new Map([...after, ...page.map(({ shard, invite }) => [shard, invite.id] as const)]);
  const invites = await Promise.all(page.map(({ invite }) => withAcceptUrl(settings, invite)));
  return { invites, next_after: writePositions(read) };
}

async function fromEachShard<Result>(context: Context, ask: (context: Context) => Promise<Result>) {
  const { shards } = context;
  if (!shards) return [await ask(context)];
  const asked = shards.numbers.map((shard) => inTime(ask(shards.enter(shard)), DATABASE_TIMEOUT));
  const answers = await Promise.allSettled(asked);
  const results = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const [fault] = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  if (results.length === 0) throw fault;
  if (fault) logFault({ chore: "invites_of_shard" }, fault);
  return results;
}

/**
 * @throws ApiError 404 if the token is forged or its invite no longer exists, 403 if the organization is suspended, 422 if the
 *   invite was used or has expired, or its former member has already returned
 */
export async function acceptInvite(context: Context, token: string): Promise<OrganizationUser> {
  const { settings, now } = context;
  const claims = await verifyToken(settings, token);
  return decideAndWrite(
    context,
    {
      invite: inviteOfToken(claims),
      suspension: suspensionOf({ id: claims.organization_id }),
      ...membershipOfInvitee(claims),
    },
    async ({ invite: [invite], suspension: [suspension], member: [member], room: [room] }) => {
      if (!invite) throw inviteNotFound();
      if (suspension?.is_suspended) throw organizationSuspended();
      const used = useInvite(invite, member, now);
      const next = joinMember(member, invite, now);
      const written = { organization_id: invite.organization_id, id: member?.id ?? null };
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          inviteWrites.update(invite, used),
          userWritten(written),
        ],
        entries: [memberEntry(context, "create", written)],
      };
    },
  );
}

const inviteOfToken = rowsWhere(invites, getTableColumns(invites), (claims: Placeholders<InviteOfToken>) =>
  isOfToken(claims),
);

const membershipOfInvitee = membershipReads((claims: Placeholders<InviteOfToken>) => ({
  organization_id: claims.organization_id,
  id: builder
    .select({
      id: coalesce(invites.returning_user_id, accountIdOf(invites.organization_id, invites.email)).as("id"),
    })
    .from(invites)
    .where(isOfToken(claims)),
}));

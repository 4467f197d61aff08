import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { requireFirst, runAll, runBatch } from "../../database/queries.ts";
import { type Page, pageWindow, toPage } from "../../http/pagination.ts";
import { rightsOfCaller } from "../../organization/api_clients/api_clients.sql.ts";
import { accountByEmail, formerMemberById } from "../../organization/members/members.sql.ts";
import { requireAssignable, requireRights } from "../../organization/roles/roles.policy.ts";
import { countMails, digestsOfAddresses } from "../invite_mails/invite_mails.limits.ts";
import { newInvite, renewInvite } from "./invites.merge.ts";
import { inviteNotFound, usedInviteStays } from "./invites.refusals.ts";
import type { Invite, InviteListQuery, NewInviteInput } from "./invites.schemas.ts";
import * as sql from "./invites.sql.ts";

export async function listInvites(
  { db, now, caller: { organization_id } }: ClientContext,
  { status, email, ...page }: InviteListQuery,
): Promise<Page<Invite>> {
  if (email !== undefined) {
    const found = await runAll(db, sql.listedInviteOf({ organization_id, email }));
    const listed = found.filter(({ expires_at }) => expires_at > now === (status === "active"));
    return toPage(page, listed.length, page.page === 1 ? listed : []);
  }
  const [[totals], rows] = await runBatch(db, [
    sql.totalsOfInvites({ organization_id, now }),
    sql.pagesOfInvites[status]({ organization_id, now, ...pageWindow(page) }),
  ]);
  return toPage(page, totals?.[status] ?? 0, rows);
}

/** Also returns an invite that is used or expired. */
export const requireInvite = (
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<Invite> => requireFirst(db, sql.ownInviteById({ organization_id, id }), inviteNotFound);

export async function createInvite(context: ClientContext, input: NewInviteInput): Promise<Invite> {
  const { now, settings, mailer, caller } = context;
  requireAssignable(caller, input.role_names, "organization_invite.role_names");
  const { organization_id, organization_user_id: user_id } = caller;
  const { email, display_name } = input;
  return decideAndWrite(
    context,
    {
      member: rightsOfCaller(caller),
      account: accountByEmail({ organization_id, email }),
      pending: sql.pendingInviteOf({ organization_id, email }),
      former: formerMemberById({ organization_id, id: input.returning_user_id ?? 0 }),
      quota: sql.inviteQuota({ organization_id }),
    },
    async ({ member: [member], account: [account], pending: [pending], former, quota: [quota] }) => {
      const own = requireRights(member);
      requireAssignable(own, input.role_names, "organization_invite.role_names");
      const known = {
        organization_id,
        user_id,
        settings,
        mailer,
        hasAccount: account !== undefined,
        pending: pending ?? null,
        // Only an organization_admin has access to former members.
        mayReturn: former.length > 0 && own.roles.includes("organization_admin"),
        isFull: quota?.is_full ?? false,
      };
      const invite = newInvite(known, input, now);
      return {
        writes: [...(await countMail(context, email)), sql.inviteWrites.insert(invite)],
        entries: [sql.inviteEntry.ofNewest(context, "create", {})],
      };
    },
    { idempotency: await sql.inviteIdempotency(context, { email, display_name }) },
  );
}

export async function deleteInvite(context: ClientContext, id: number): Promise<void> {
  const { caller } = context;
  const path = { organization_id: caller.organization_id, id };
  const reads = { member: rightsOfCaller(caller), invite: sql.ownInviteRow(path) };
  await decideAndWrite(context, reads, ({ member: [member], invite: [invite] }) => {
    const own = requireRights(member);
    if (!invite) throw inviteNotFound();
    if (invite.used_at !== null) throw usedInviteStays();
    requireAssignable(own, invite.roles, "roles");
    return { writes: [sql.inviteEntry.of(context, "delete", path), sql.removeInvite(path)] };
  });
}

/** Even if the invite has expired. */
export async function resendInvite(context: ClientContext, id: number): Promise<Invite> {
  const { now, settings, mailer, caller } = context;
  const path = { organization_id: caller.organization_id, id };
  const reads = { member: rightsOfCaller(caller), invite: sql.ownInviteRow(path) };
  return decideAndWrite(context, reads, async ({ member: [member], invite: [invite] }) => {
    if (!invite) throw inviteNotFound();
    const resent = renewInvite(invite, { own: requireRights(member), settings, mailer }, now);
    return {
      writes: [...(await countMail(context, invite.email)), sql.inviteWrites.update(invite, resent)],
      entries: [sql.inviteEntry.of(context, "update", path)],
    };
  });
}

const countMail = async (context: ClientContext, email: string) =>
  countMails(context, context.caller.organization_id, await digestsOfAddresses(context.settings, [email]));

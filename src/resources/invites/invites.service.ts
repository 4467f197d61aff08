import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { requireFirst, runBatch } from "../../database/queries.ts";
import { type Page, pageWindow, toPage } from "../../http/pagination.ts";
import { rolesOfCaller } from "../api_clients/api_clients.sql.ts";
import { countMails, digestsOfAddresses } from "../invite_mails/invite_mails.limits.ts";
import { requireAssignable, requireRoles } from "../roles/roles.policy.ts";
import { newInvite, renewInvite } from "./invites.merge.ts";
import { inviteNotFound, usedInviteStays } from "./invites.refusals.ts";
import type { Invite, InviteInput, InviteListQuery } from "./invites.schemas.ts";
import {
  accountOfEmail,
  inviteEntry,
  inviteIdempotency,
  inviteQuota,
  inviteWrites,
  ownInviteById,
  ownInviteToResend,
  ownInviteUse,
  pagesOfInvites,
  pendingInviteOf,
  removeInvite,
  totalsOfInvites,
} from "./invites.sql.ts";

/** Those that can still be accepted, or those that have expired without being used. */
export async function listInvites(
  { db, now, caller: { organization_id } }: ClientContext,
  { status, ...page }: InviteListQuery,
): Promise<Page<Invite>> {
  const [[totals], rows] = await runBatch(db, [
    totalsOfInvites({ organization_id, now }),
    pagesOfInvites[status]({ organization_id, now, ...pageWindow(page) }),
  ]);
  return toPage(page, totals?.[status] ?? 0, rows);
}

/** Any invite of the organization, used and expired ones too. */
export const requireInvite = (
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<Invite> => requireFirst(db, ownInviteById({ organization_id, id }), inviteNotFound);

export async function createInvite(context: ClientContext, input: InviteInput): Promise<Invite> {
  const { db, now, settings, mailer, caller } = context;
  requireAssignable(caller.roles, input.role_names, "organization_invite.role_names");
  const { organization_id, organization_user_id: user_id } = caller;
  const { email, display_name } = input;
  return decideAndWrite(
    db,
    [
      rolesOfCaller(caller),
      accountOfEmail({ organization_id, email }),
      pendingInviteOf({ organization_id, email }),
      inviteQuota({ organization_id }),
    ],
    async ([member], [account], [pending], [quota]) => {
      requireAssignable(requireRoles(member), input.role_names, "organization_invite.role_names");
      const known = {
        organization_id,
        user_id,
        settings,
        mailer,
        hasAccount: account !== undefined,
        pending: pending ?? null,
        isFull: quota?.is_full ?? false,
      };
      const invite = newInvite(known, input, now);
      return {
        writes: [...(await countMail(context, email)), inviteWrites.insert(invite)],
        entries: [inviteEntry.ofNewest(context, "create", {})],
      };
    },
    { idempotency: await inviteIdempotency(context, { email, display_name }) },
  );
}

/** Removes an invite that was not used, expired or not. */
export async function deleteInvite(context: ClientContext, id: number): Promise<void> {
  const { db, caller } = context;
  const path = { organization_id: caller.organization_id, id };
  await decideAndWrite(db, [rolesOfCaller(caller), ownInviteUse(path)], ([member], [invite]) => {
    requireRoles(member);
    if (!invite) throw inviteNotFound();
    if (invite.used_at !== null) throw usedInviteStays();
    return { writes: [inviteEntry.of(context, "delete", path), removeInvite(path)] };
  });
}

/** Sends an invite again that was not used, expired or not, with a new link and a new expiry. */
export async function resendInvite(context: ClientContext, id: number): Promise<Invite> {
  const { db, now, settings, mailer, caller } = context;
  const path = { organization_id: caller.organization_id, id };
  return decideAndWrite(db, [rolesOfCaller(caller), ownInviteToResend(path)], async ([member], [invite]) => {
    if (!invite) throw inviteNotFound();
    const resent = renewInvite(invite, { roles: requireRoles(member), settings, mailer }, now);
    return {
      writes: [...(await countMail(context, invite.email)), inviteWrites.update(invite, resent)],
      entries: [inviteEntry.of(context, "update", path)],
    };
  });
}

/** The statements that count the mail of an invite, for the organization and for the address. */
const countMail = async (context: ClientContext, email: string) =>
  countMails(context, context.caller.organization_id, await digestsOfAddresses(context.settings, [email]));

import type { Role } from "../../database/enums.ts";
import type { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { MAX_ADDRESS_MAILS } from "../../limits.ts";
import { type Inviter, inviteeFault, inviteRow } from "../invites/invites.merge.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import { requireAssignable } from "../roles/roles.policy.ts";
import { ROW_FAULTS, tooManyBulkRows } from "./bulk_invites.refusals.ts";
import type { PendingRow } from "./bulk_invites.schemas.ts";

/** @throws ApiError 422 if a row's roles are above the sender's level */
export function requireAssignableRows(roles: Role[], inputs: InviteInput[]): void {
  for (const [row, { role_names }] of inputs.entries())
    requireAssignable(roles, role_names, `organization_invites.${row}.role_names`);
}

/** What is known when a bulk invite is created. */
interface KnownSender {
  organization_id: number;
  user_id: number;
  roles: Role[];
  /** Whether the organization would have sent too many rows with these. */
  isBeyondQuota: boolean;
}

/** @throws ApiError 422 if a row's roles are above the sender's level, 429 if the organization has sent too many rows */
export function newBulkInvite(
  { organization_id, user_id, roles, isBeyondQuota }: KnownSender,
  inputs: InviteInput[],
  now: number,
): typeof bulkInvites.$inferInsert {
  requireAssignableRows(roles, inputs);
  if (isBeyondQuota) throw tooManyBulkRows();
  return {
    organization_id,
    total_count: inputs.length,
    next_attempt_at: now,
    created_at: now,
    updated_at: now,
    created_by_user_id: user_id,
  };
}

/** The rows of a bulk invite whose id is not known yet. */
export const newRows = (
  organization_id: number,
  inputs: InviteInput[],
  digests: string[],
): Omit<typeof bulkInviteRows.$inferInsert, "bulk_invite_id">[] =>
  inputs.map(({ email, display_name, role_names }, row) => ({
    organization_id,
    row,
    email,
    address_digest: digests[row] ?? "",
    display_name,
    roles: role_names,
    status: "pending",
  }));

/** What becomes of a row: an invite, unless there is an error. */
export interface RowEnd {
  row: number;
  error: string | null;
}

/** The fault of a row for which there would be a place; null without one. */
function rowFault(row: PendingRow, now: number): string | null {
  if (row.is_repeated) return ROW_FAULTS.repeated;
  const { pending_id, pending_until } = row;
  const pending =
    pending_id === null || pending_until === null ? null : { id: pending_id, expires_at: pending_until };
  const fault = inviteeFault({ hasAccount: row.has_account, pending }, now);
  if (fault?.reason === "account") return ROW_FAULTS.account;
  // A request from before the end of a membership does not let the person in again.
  if (row.membership_ended) return ROW_FAULTS.membershipEnded;
  return fault ? ROW_FAULTS.pendingInvite(fault) : null;
}

/**
 * What becomes of rows that are pending, and the invites that are made of them.
 *
 * @param places how many invites the organization can still have, or at least as many as there are rows
 * @param mails how many mails it can still send on this day, likewise
 */
export function decideRowEnds(
  rows: PendingRow[],
  { places, mails }: { places: number; mails: number },
  { settings, mailer }: Pick<Inviter, "settings" | "mailer">,
  now: number,
): { ends: RowEnd[]; invites: ReturnType<typeof inviteRow>[]; mailed: string[] } {
  const ends: RowEnd[] = [];
  const invites: ReturnType<typeof inviteRow>[] = [];
  const mailed: string[] = [];
  const mailFault = ({ address_digest, mails_to_address }: PendingRow): string | null => {
    if (!mailer) return null;
    if (mailed.length >= mails) return ROW_FAULTS.tooManyMails;
    const mailsNow = mailed.filter((digest) => digest === address_digest).length;
    return mails_to_address + mailsNow < MAX_ADDRESS_MAILS ? null : ROW_FAULTS.tooManyMailsToAddress;
  };
  for (const row of rows) {
    const error =
      rowFault(row, now) ?? (invites.length < places ? null : ROW_FAULTS.tooManyInvites) ?? mailFault(row);
    ends.push({ row: row.row, error });
    if (error !== null) continue;
    if (mailer) mailed.push(row.address_digest);
    const { organization_id, created_by_user_id: user_id, roles: role_names } = row;
    invites.push(inviteRow({ organization_id, user_id, settings, mailer }, { ...row, role_names }, now));
  }
  return { ends, invites, mailed };
}

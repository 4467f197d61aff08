import type { NewRow } from "../../database/insert.ts";
import { MAX_ADDRESS_MAILS } from "../../limits.ts";
import type { Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { requireAssignable } from "../../organization/roles/roles.policy.ts";
import { type Inviter, inviteeFault, inviteRow } from "../invites/invites.merge.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import type { invites } from "../invites/invites.table.ts";
import { ROW_FAULTS, tooManyBulkRows } from "./bulk_invites.refusals.ts";
import type { PendingRow } from "./bulk_invites.schemas.ts";
import type { bulkInviteRows, bulkInvites } from "./bulk_invites.table.ts";

export function requireAssignableRows(own: Rights, inputs: InviteInput[]): void {
  for (const [row, { role_names }] of inputs.entries())
    requireAssignable(own, role_names, `organization_invites.${row}.role_names`);
}

interface KnownSender {
  organization_id: number;
  user_id: number;
  own: Rights;
  isBeyondQuota: boolean;
}

export function newBulkInvite(
  { organization_id, user_id, own, isBeyondQuota }: KnownSender,
  inputs: InviteInput[],
  now: number,
): NewRow<typeof bulkInvites> {
  requireAssignableRows(own, inputs);
  if (isBeyondQuota) throw tooManyBulkRows();
  return {
    organization_id,
    total_count: inputs.length,
    completed_at: null,
    erased_at: null,
    created_at: now,
    updated_at: now,
    created_by_user_id: user_id,
  };
}

/** The bulk invite's id is generated when the rows are inserted. */
export type NewBulkInviteRow = Omit<NewRow<typeof bulkInviteRows>, "bulk_invite_id">;

export const newRows = (
  organization_id: number,
  inputs: InviteInput[],
  digests: string[],
): NewBulkInviteRow[] =>
  inputs.map(({ email, display_name, role_names }, row) => ({
    organization_id,
    row,
    email,
    address_digest: digests[row] ?? "",
    display_name,
    roles: role_names,
    status: "pending",
    error: null,
  }));

/** The row created an invite if `error` is null. */
export interface RowEnd {
  bulk_invite_id: number;
  row: number;
  error: string | null;
}

function rowFault(row: PendingRow, now: number): string | null {
  if (row.is_repeated) return ROW_FAULTS.repeated;
  const { pending_id, pending_until } = row;
  const pending =
    pending_id === null || pending_until === null ? null : { id: pending_id, expires_at: pending_until };
  const fault = inviteeFault({ hasAccount: row.has_account, pending }, now);
  if (fault?.reason === "account") return ROW_FAULTS.account;
  return fault ? ROW_FAULTS.pendingInvite(fault) : null;
}

/** `places` and `mails` are those left to the organization; they may be capped at the number of rows. */
export function decideRowEnds(
  rows: PendingRow[],
  { places, mails }: { places: number; mails: number },
  { settings, mailer }: Pick<Inviter, "settings" | "mailer">,
  now: number,
): { ends: RowEnd[]; invites: NewRow<typeof invites>[]; mailed: string[] } {
  const ends: RowEnd[] = [];
  const newInvites: NewRow<typeof invites>[] = [];
  const mailed: string[] = [];
  const mailFault = ({ address_digest, mails_to_address }: PendingRow): string | null => {
    if (!mailer) return null;
    if (mailed.length >= mails) return ROW_FAULTS.tooManyMails;
    const mailsNow = mailed.filter((digest) => digest === address_digest).length;
    return mails_to_address + mailsNow < MAX_ADDRESS_MAILS ? null : ROW_FAULTS.tooManyMailsToAddress;
  };
  for (const row of rows) {
    const error =
      rowFault(row, now) ?? (newInvites.length < places ? null : ROW_FAULTS.tooManyInvites) ?? mailFault(row);
    ends.push({ bulk_invite_id: row.bulk_invite_id, row: row.row, error });
    if (error !== null) continue;
    if (mailer) mailed.push(row.address_digest);
    const { organization_id, created_by_user_id: user_id, email, display_name, roles } = row;
    const inviter = { organization_id, user_id, settings, mailer };
    newInvites.push(inviteRow(inviter, { email, display_name, roles, returning_user_id: null }, now));
  }
  return { ends, invites: newInvites, mailed };
}

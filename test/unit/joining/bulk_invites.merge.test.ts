import { describe, expect, it } from "vitest";
import { decideRowEnds } from "../../../src/joining/bulk_invites/bulk_invites.merge.ts";
import { ROW_FAULTS } from "../../../src/joining/bulk_invites/bulk_invites.refusals.ts";
import type { PendingRow } from "../../../src/joining/bulk_invites/bulk_invites.schemas.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const sending = { settings: { INVITE_VALIDITY_DAYS: 3 }, mailer: null };

const aRow = (row: number, known: Partial<PendingRow> = {}): PendingRow => ({
  organization_id: 1,
  bulk_invite_id: 4,
  status: "pending",
  error: null,
  created_by_user_id: 33,
  row,
  email: `ivy-${row}@example.com`,
  address_digest: `digest-${row}`,
  mails_to_address: 0,
  display_name: "Ivy Invitee",
  roles: ["provider"],
  is_repeated: false,
  has_account: false,
  pending_id: null,
  pending_until: null,
  ...known,
});

const pending = (pending_until: number) => ({ pending_id: 7, pending_until });

const errorsOf = (rows: PendingRow[], places = 50) =>
  decideRowEnds(rows, { places, mails: 50 }, sending, NOW).ends.map(({ error }) => error);

describe("decideRowEnds", () => {
  it.each<[string, Partial<PendingRow>]>([
    [ROW_FAULTS.repeated, { is_repeated: true, has_account: true }],
    [ROW_FAULTS.account, { has_account: true, ...pending(NOW + 1) }],
    [ROW_FAULTS.pendingInvite({ id: 7, expired_at: null }), { ...pending(NOW + 1) }],
    [ROW_FAULTS.pendingInvite({ id: 7, expired_at: "2026-01-31T09:30:00.000Z" }), { ...pending(NOW) }],
  ])("fails a row with the first of its errors: %s", (error, known) => {
    expect(decideRowEnds([aRow(0, known)], { places: 50, mails: 50 }, sending, NOW)).toEqual({
      ends: [{ bulk_invite_id: 4, row: 0, error }],
      invites: [],
      mailed: [],
    });
  });

  it("fails rows once no invites are left, not counting rows with other errors", () => {
    const rows = [aRow(0, { has_account: true }), aRow(1), aRow(2), aRow(3, { is_repeated: true })];
    const { account, tooManyInvites, repeated } = ROW_FAULTS;
    expect(errorsOf(rows, 1)).toEqual([account, null, tooManyInvites, repeated]);
  });
});

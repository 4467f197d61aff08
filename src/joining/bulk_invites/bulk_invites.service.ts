import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { BULK_ROWS_PERIOD } from "../../lifetimes.ts";
import { rightsOfCaller } from "../../organization/api_clients/api_clients.sql.ts";
import { requireRights } from "../../organization/roles/roles.policy.ts";
import { digestsOfAddresses } from "../invite_mails/invite_mails.limits.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import { newBulkInvite, newRows, requireAssignableRows } from "./bulk_invites.merge.ts";
import { bulkInviteNotFound } from "./bulk_invites.refusals.ts";
import type { BulkInvite } from "./bulk_invites.schemas.ts";
import * as sql from "./bulk_invites.sql.ts";

export async function createBulkInvite(context: ClientContext, inputs: InviteInput[]): Promise<BulkInvite> {
  const { now, settings, caller } = context;
  requireAssignableRows(caller, inputs);
  const { organization_id, organization_user_id: user_id } = caller;
  const digests = await digestsOfAddresses(
    settings,
    inputs.map(({ email }) => email),
  );
  return decideAndWrite(
    context,
    {
      member: rightsOfCaller(caller),
      quota: sql.bulkInviteQuota({
        organization_id,
        since: now - BULK_ROWS_PERIOD,
        total_count: inputs.length,
      }),
    },
    ({ member: [member], quota: [quota] }) => {
      const isBeyondQuota = quota?.is_beyond ?? false;
      const known = { organization_id, user_id, own: requireRights(member), isBeyondQuota };
      return {
        writes: [
          sql.bulkInviteWrites.insert(newBulkInvite(known, inputs, now)),
          sql.insertBulkInviteRows(newRows(organization_id, inputs, digests)),
          sql.newestBulkInvite({}),
        ],
        entries: [sql.bulkInviteEntry(context, "create", {})],
      };
    },
    { idempotency: await sql.bulkInviteIdempotency(context, {}) },
  );
}

export async function requireBulkInvite({ db, caller: { organization_id } }: ClientContext, id: number) {
  const [[bulkInvite], failures] = await runBatch(db, [
    sql.ownBulkInvite({ organization_id, id }),
    sql.failuresOfBulkInvite({ organization_id, id }),
  ]);
  if (!bulkInvite) throw bulkInviteNotFound();
  return { bulkInvite, failures };
}

import { inArray } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  runAll,
  runBatch,
} from "../../database/queries.ts";
import { bulkInvites } from "../../database/schema.ts";
import { logFault } from "../../http/log.ts";
import { BULK_ROWS_PERIOD } from "../../lifetimes.ts";
import { portionsOf } from "../../queues/portions.ts";
import { rolesOfCaller } from "../api_clients/api_clients.sql.ts";
import { digestsOfAddresses } from "../invite_mails/invite_mails.limits.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import { requireRoles } from "../roles/roles.policy.ts";
import { chunksOf, newBulkInvite, newRows, requireAssignableRows } from "./bulk_invites.merge.ts";
import { bulkInviteNotFound } from "./bulk_invites.refusals.ts";
import type { BulkInvite, BulkInviteFailure } from "./bulk_invites.schemas.ts";
import {
  bulkInviteEntry,
  bulkInviteIdempotency,
  bulkInviteQuota,
  bulkInviteWrites,
  failuresOfBulkInvite,
  insertBulkInviteRows,
  newestBulkInvite,
  ownBulkInvite,
} from "./bulk_invites.sql.ts";

/**
 * Stores the rows, all of them, and hands them to the queue. Where the queue does not take them, the cron hands them
 * over later: nothing is lost.
 *
 * @throws ApiError if it is refused; nothing is stored then
 */
export async function createBulkInvite(context: ClientContext, inputs: InviteInput[]): Promise<BulkInvite> {
  const { db, now, settings, caller, keyed } = context;
  requireAssignableRows(caller.roles, inputs);
  const { organization_id, organization_user_id: user_id } = caller;
  const digests = await digestsOfAddresses(
    settings,
    inputs.map(({ email }) => email),
  );
  const bulkInvite = await decideAndWrite(
    db,
    [
      rolesOfCaller(caller),
      bulkInviteQuota({ organization_id, since: now - BULK_ROWS_PERIOD, total_count: inputs.length }),
    ],
    ([member], [quota]) => {
      const isBeyondQuota = quota?.is_beyond ?? false;
      const known = { organization_id, user_id, roles: requireRoles(member), isBeyondQuota };
      return {
        writes: [
          bulkInviteWrites.insert(newBulkInvite(known, inputs, now)),
          insertBulkInviteRows({ rows: JSON.stringify(newRows(organization_id, inputs, digests)) }),
          newestBulkInvite({}),
        ],
        entries: [bulkInviteEntry(context, "create", {})],
      };
    },
    { idempotency: await bulkInviteIdempotency(context) },
  );
  if (keyed?.isReplay) return bulkInvite;
  await queueRows(context, [bulkInvite]).catch((error) => logFault({ bulk_invite_id: bulkInvite.id }, error));
  return bulkInvite;
}

/** How far a bulk invite has come, and each row that made no invite. */
export async function requireBulkInvite(
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<{ bulkInvite: BulkInvite; failures: BulkInviteFailure[] }> {
  const [[bulkInvite], failures] = await runBatch(db, [
    ownBulkInvite({ organization_id, id }),
    failuresOfBulkInvite({ organization_id, id }),
  ]);
  if (!bulkInvite) throw bulkInviteNotFound();
  return { bulkInvite, failures };
}

/**
 * Hands all rows of these bulk invites to the queue, in chunks. If the queue does not take them, the next run of the
 * cron tries again.
 */
export async function queueRows(
  { db, bulkInviteQueue }: Context,
  ofBulkInvites: Pick<BulkInvite, "id" | "total_count">[],
): Promise<void> {
  const messages = ofBulkInvites.flatMap(chunksOf).map((body) => ({ body }));
  let sent = 0;
  try {
    for (const portion of portionsOf(messages)) {
      await bulkInviteQueue.sendBatch(portion);
      sent += portion.length;
    }
  } catch (error) {
    const unsent = new Set(messages.slice(sent).map(({ body }) => body.bulk_invite_id));
    await runAll(db, markUnsent({ ids: JSON.stringify([...unsent]) }));
    throw error;
  }
}

/** `ids` is a JSON array. */
const markUnsent = preparedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  builder
    .update(bulkInvites)
    .set({ queued_at: 0 })
    .where(inArray(bulkInvites.id, jsonValues(ids))),
);

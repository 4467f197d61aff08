import { max, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { namedCreation } from "../../database/creations.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, namedQuery, type Placeholders, runAll, runBatch } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { logFault } from "../../http/log.ts";
import { BULK_INVITE_CHUNK, QUEUE_SEND_LIMIT } from "../../limits.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import { requireAssignable } from "../roles/roles.schemas.ts";
import type { BulkInvite, BulkInviteChunk, BulkInviteFailure } from "./bulk_invites.schemas.ts";
import { bulkInviteColumns, failuresOfBulkInvite, ownBulkInvite } from "./bulk_invites.sql.ts";

/**
 * Stores the rows, all of them, and hands them to the queue. Where the queue does not take them, the cron hands them
 * over later: nothing is lost.
 *
 * @throws ApiError 422 if a row's roles are above the caller's level; nothing is stored then
 */
export async function createBulkInvite(context: ClientContext, rows: InviteInput[]): Promise<BulkInvite> {
  const { now, caller, keyed } = context;
  for (const [row, { role_names }] of rows.entries())
    requireAssignable(caller.roles, role_names, `organization_invites.${row}.role_names`);
  const { organization_id } = caller;
  const bulkInvite = await insertBulkInvite(context, {
    organization_id,
    rows: JSON.stringify(rows),
    total_count: rows.length,
    now,
  });
  if (keyed?.isReplay) return bulkInvite;
  await queueRows(context, [bulkInvite]).catch((error) => logFault({ bulk_invite_id: bulkInvite.id }, error));
  return bulkInvite;
}

/** `rows` is JSON text. */
interface NewBulkInvite {
  organization_id: number;
  rows: string;
  total_count: number;
  now: number;
}

/** The rows belong to the newest bulk invite, which is the one that this transaction has just made. */
const insertBulkInvite = namedCreation(
  { table: bulkInvites, columns: bulkInviteColumns },
  ({ organization_id, rows, total_count, now }: Placeholders<NewBulkInvite>) => ({
    rules: [],
    statements: [
      builder
        .insert(bulkInvites)
        .values({ organization_id, total_count, queued_at: now, created_at: now, updated_at: now })
        .returning(bulkInviteColumns),
    ],
    after: [
      insertSelect(
        bulkInviteRows,
        {
          organization_id,
          bulk_invite_id: builder.select({ id: max(bulkInvites.id) }).from(bulkInvites),
          row: sql`line.key`,
          email: sql`line.value ->> 'email'`,
          display_name: sql`line.value ->> 'display_name'`,
          roles: sql`line.value ->> 'role_names'`,
          status: "pending",
        },
        sql`from json_each(${rows}) as line`,
      ),
    ],
  }),
);

/** How far a bulk invite has come, and each row that made no invite. */
export async function requireBulkInvite(
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<{ bulkInvite: BulkInvite; failures: BulkInviteFailure[] }> {
  const [[bulkInvite], failures] = await runBatch(db, [
    ownBulkInvite({ organization_id, id }),
    failuresOfBulkInvite({ organization_id, id }),
  ]);
  if (!bulkInvite) throw notFound("Bulk invite");
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
    for (; sent < messages.length; sent += QUEUE_SEND_LIMIT)
      await bulkInviteQueue.sendBatch(messages.slice(sent, sent + QUEUE_SEND_LIMIT));
  } catch (error) {
    const unsent = new Set(messages.slice(sent).map(({ body }) => body.bulk_invite_id));
    await runAll(db, markUnsent({ ids: JSON.stringify([...unsent]) }));
    throw error;
  }
}

/** `ids` is JSON text. */
const markUnsent = namedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  builder
    .update(bulkInvites)
    .set({ queued_at: 0 })
    .where(sql`${bulkInvites.id} in (select unsent.value from json_each(${ids}) as unsent)`),
);

function chunksOf({ id, total_count }: Pick<BulkInvite, "id" | "total_count">): BulkInviteChunk[] {
  return Array.from({ length: Math.ceil(total_count / BULK_INVITE_CHUNK) }, (_, n) => ({
    schema: "bulk_invite_chunk/1",
    bulk_invite_id: id,
    first_row: n * BULK_INVITE_CHUNK,
    last_row: Math.min((n + 1) * BULK_INVITE_CHUNK, total_count) - 1,
  }));
}

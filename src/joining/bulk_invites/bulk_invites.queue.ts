import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, greatest, hasValues, iif, least, scalar } from "../../database/expressions.ts";
import { insertRows, jsonField, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { isInTurn, newTurn, type Turn } from "../../database/turns.ts";
import { nudgeDeliveries } from "../../delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { dateOf } from "../../http/dates.ts";
import { isPassing } from "../../http/errors.ts";
import { logFault } from "../../http/log.ts";
import { id } from "../../http/wire.ts";
import { MAX_ORGANIZATION_MAILS, MAX_UNUSED_INVITES } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { isServed } from "../../organization/organizations/organizations.sql.ts";
import { ALL_CLIENTS } from "../../organization/usage/usage.sql.ts";
import { organizationDays } from "../../organization/usage/usage.table.ts";
import { consume } from "../../queues/consume.ts";
import { OUTWARD_SHARE, QUEUE_SEND_LIMIT } from "../../tuning.ts";
import { countMails, dayOf } from "../invite_mails/invite_mails.limits.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { invites } from "../invites/invites.table.ts";
import { decideRowEnds } from "./bulk_invites.merge.ts";
import { isPendingRow, mailsToAddress, pendingRowColumns } from "./bulk_invites.sql.ts";
import { bulkInviteRows, bulkInvites } from "./bulk_invites.table.ts";

/** D1 knows which rows are pending, so a lost, late or duplicate message does no harm. */
const bulkInviteMessage = lazily(() =>
  z.object({ schema: z.literal("bulk_invites/1"), bulk_invite_id: id() }),
);

type BulkInviteMessage = z.infer<ReturnType<typeof bulkInviteMessage>>;

/** Only logs a failure: the cron sends messages as long as rows are pending. */
export async function queueBulkInvites(
  { bulkInviteQueue }: Pick<Context, "bulkInviteQueue">,
  bulkInvites: { id: number }[],
): Promise<void> {
  const messages = bulkInvites.map(({ id: bulk_invite_id }) => ({
    body: { schema: "bulk_invites/1", bulk_invite_id } satisfies BulkInviteMessage,
  }));
  await bulkInviteQueue.sendBatch(messages).catch((error) => logFault({ queue: "bulk-invites" }, error));
}

/** A fault of the service, such as a violated constraint, is retried until it is fixed, or the rows are erased. */
export const consumeBulkInvites = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, bulkInviteMessage(), async (context, { bulk_invite_id }) => {
    try {
      await endRows(context, bulk_invite_id);
    } catch (error) {
      if (!isPassing(error)) logFault({ bulk_invite_id }, error);
      throw error;
    }
    await nudgeInviteMails(context);
    await nudgeDeliveries(context.webhookQueue);
  });

export async function queueDueBulkInvites(context: Context): Promise<number> {
  const uncompleted = await runAll(
    context.db,
    uncompletedBulkInvites(newTurn(OUTWARD_SHARE, QUEUE_SEND_LIMIT)),
  );
  if (uncompleted.length > 0) await queueBulkInvites(context, uncompleted);
  return uncompleted.length;
}

/**
 * In one transaction with the rows' invites, so that each row ends once, however often the message comes. Does nothing while
 * the organization is suspended: the cron sends another message afterwards.
 */
async function endRows(context: Context, bulk_invite_id: number): Promise<void> {
  const { now, settings, mailer } = context;
  await decideAndWrite(
    context,
    {
      pending: pendingRows({ bulk_invite_id, day: dayOf(now) }),
      quota: quotasLeft({ bulk_invite_id, date: dateOf(now) }),
    },
    ({ pending, quota: [left] }): Decision<unknown> => {
      const [first] = pending;
      if (!first || !left) return { unchanged: null };
      const { ends, invites, mailed } = decideRowEnds(pending, left, { settings, mailer }, now);
      return {
        writes: [
          ...countMails(context, first.organization_id, mailed),
          insertInvites(invites),
          writeEnds({ ends: JSON.stringify(ends) }),
          completeBulkInvite({ bulk_invite_id, now }),
        ],
      };
    },
  );
}

const uncompletedBulkInvites = preparedQuery((turn: Placeholders<Turn>) =>
  selectColumn(
    bulkInvites.id,
    isInTurn(
      bulkInvites,
      { time: bulkInvites.created_at, where: isServed, indexed: isNull(bulkInvites.completed_at) },
      turn,
    ),
  ),
);

const pendingRows = preparedQuery(
  ({ bulk_invite_id, day }: Placeholders<{ bulk_invite_id: number; day: number }>) =>
    builder
      .select({ ...pendingRowColumns, mails_to_address: mailsToAddress(day) })
      .from(bulkInvites)
      .innerJoin(bulkInviteRows, eq(bulkInviteRows.bulk_invite_id, bulkInvites.id))
      .where(
        and(
          eq(bulkInvites.id, bulk_invite_id),
          livesHere(bulkInvites.organization_id),
          isServed(bulkInvites.organization_id),
          isPendingRow,
        ),
      )
      .orderBy(asc(bulkInviteRows.row)),
);

/** Both are capped at the number of rows, so that other invites rarely conflict with this decision. */
const quotasLeft = preparedQuery(
  ({ bulk_invite_id, date }: Placeholders<{ bulk_invite_id: number; date: string }>) => {
    const { organization_id } = bulkInvites;
    const mails = selectColumn(
      organizationDays.mails,
      hasValues(organizationDays, { organization_id, date, api_client_id: ALL_CLIENTS }),
    );
    return builder
      .select({
        places: leftOf(MAX_UNUSED_INVITES, totalOf("invites", organization_id)).as("places"),
        mails: leftOf(MAX_ORGANIZATION_MAILS, coalesce(scalar(mails), 0)).as("mails"),
      })
      .from(bulkInvites)
      .where(eq(bulkInvites.id, bulk_invite_id));
  },
);

/** Cast, because D1 binds numbers as REAL, and the guard of a decision would take 3.0 and 3 for different values. */
const leftOf = (most: number, used: SQL) =>
  sql<number>`cast(${least(greatest(sql`${most} - ${used}`, 0), bulkInvites.total_count)} as integer)`;

const insertInvites = insertRows(invites);

/** The bulk invite's id comes from each end: with a single value, SQLite would search all ends for each row. */
const writeEnds = preparedQuery(({ ends }: Placeholders<{ ends: string }>) =>
  builder
    .update(bulkInviteRows)
    .set({ status: iif(isNull(jsonField("error")), "created", "failed"), error: jsonField("error") })
    .from(jsonRows(ends))
    .where(hasValues(bulkInviteRows, { bulk_invite_id: jsonField("bulk_invite_id"), row: jsonField("row") })),
);

const completeBulkInvite = preparedQuery(
  ({ bulk_invite_id, now }: Placeholders<{ bulk_invite_id: number; now: number }>) =>
    builder
      .update(bulkInvites)
      .set({ updated_at: now, completed_at: now })
      .where(eq(bulkInvites.id, bulk_invite_id))
      .returning({ id: bulkInvites.id }),
);

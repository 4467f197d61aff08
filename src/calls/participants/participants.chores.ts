import {
  and,
  eq,
  exists,
  inArray,
  isNotNull,
  isNull,
  lte,
  not,
  or,
  type Placeholder,
  type SQL,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { digestsOfReferences } from "../../audit/access_logs/access_logs.sql.ts";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { isSame } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, runAll, runBatch } from "../../database/queries.ts";
import { ERASED_NAME, isHeld, isPastRetention } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, ownerIdOf, type Turn, takeShares, workOff } from "../../database/turns.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { calls } from "../calls/calls.table.ts";
import { erasureEntries, latestTime } from "./participants.sql.ts";
import { participants } from "./participants.table.ts";

/**
 * Ends the waits that no report has changed for a day, each at the latest time known of it: the report of leaving was lost. A
 * participant who begins to wait after that comes back.
 *
 * @returns the number of ended waits
 */
export const endSilentWaits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => leaveSilently({ ...turn, now, since: now - SILENCE_UNTIL_END }));

const leaveSilently = preparedQuery((chore: Placeholders<Turn & { now: number; since: number }>) => {
  const { organization_id, call_id, left_at, updated_at } = participants;
  const waits = and(isNull(left_at), isNull(call_id));
  const silent = { time: updated_at, where: lte(updated_at, chore.since), indexed: waits };
  return builder
    .update(participants)
    .set({ left_at: latestTime, left_is_assumed: true, updated_at: chore.now })
    .where(isInTurn(participants, silent, chore))
    .returning({ owner_id: ownerIdOf(organization_id) });
});

/**
 * Erases the names, keys and references of participants past their organization's retention, and, through a trigger, the
 * references of their calls. The data that metrics, consents and audit entries need stays.
 *
 * @returns the number of erased participants
 */
export function eraseParticipants(context: Context): Promise<number> {
  const { db, now, settings } = context;
  return takeShares(CRON_PORTION, async (turn) => {
    const due = await runAll(db, participantsToErase({ ...turn, now }));
    if (due.length === 0) return [];
    const [keys, references] = await Promise.all([
      keyedDigests(
        settings.DIGEST_SECRET,
        due.map(({ key }) => key),
      ),
      digestsOfReferences(
        settings,
        due.map(({ external_reference }) => external_reference ?? ""),
      ),
    ]);
    const items = JSON.stringify(
      due.map(({ id, external_reference }, n) => ({
        id,
        external_reference,
        digest: keys[n],
        reference_digest: external_reference === null ? null : references[n],
      })),
    );
    await runBatch(db, [recordErasures(context, "delete", { items }), erase({ items, now })]);
    return due;
  });
}

/** A stay is over if it had no call, or once the call has ended and no legal hold keeps it. */
function isOver(): SQL | undefined {
  const ended = selectColumn(calls.id, eq(calls.id, participants.call_id), isNotNull(calls.ended_at));
  return or(isNull(participants.call_id), and(exists(ended), not(isHeld(participants.call_id))));
}

const participantsToErase = preparedQuery((chore: Placeholders<Turn & { now: number }>) => {
  const due = {
    time: participants.left_at,
    days: organizations.participant_retention_days,
    where: and(isNull(participants.erased_at), isOver()),
  };
  return builder
    .select({
      id: participants.id,
      owner_id: ownerIdOf(participants.organization_id),
      key: participants.key,
      external_reference: participants.external_reference,
    })
    .from(participants)
    .where(isPastRetention(participants, due, chore));
});

const read = alias(participants, "read");

/**
 * True for the items that can still be erased. A hold that began in the meantime prevents it. So does a reference that was reported
 * in the meantime, because the item does not have its digest.
 */
const isErasable = (items: Placeholder) =>
  and(
    inArray(
      participants.id,
      builder
        .select({ id: read.id })
        .from(jsonRows(items))
        .innerJoin(
          read,
          and(eq(read.id, jsonField("id")), isSame(read.external_reference, jsonField("external_reference"))),
        ),
    ),
    isNull(participants.erased_at),
    isNotNull(participants.left_at),
    isOver(),
  );

/** The entries about the participants that `erase` then erases in the same transaction. */
const recordErasures = erasureEntries(({ items }: Placeholders<{ items: string }>) => isErasable(items));

/** `items` is JSON. */
const erase = preparedQuery(({ items, now }: Placeholders<{ items: string; now: number }>) =>
  builder
    .update(participants)
    .set({
      display_name: ERASED_NAME,
      key: jsonField("digest"),
      external_reference: null,
      reference_digest: jsonField("reference_digest"),
      left_is_assumed: false,
      erased_at: now,
      updated_at: now,
    })
    .from(jsonRows(items))
    .where(and(eq(participants.id, jsonField("id")), isErasable(items))),
);

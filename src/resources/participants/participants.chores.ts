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
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { isSame } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, runAll, runBatch } from "../../database/queries.ts";
import { isPastRetention } from "../../database/retention.ts";
import { calls, organizations, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, ownerIdOf, type Turn, takeTurns, workOff } from "../../database/turns.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { digestsOfReferences } from "../access_logs/access_logs.sql.ts";
import { isHeld } from "../calls/calls.sql.ts";
import { ERASED_NAME } from "./participants.schemas.ts";
import { erasureEntries, latestTime, leaveAt } from "./participants.sql.ts";

/**
 * Ends waits of which no report has changed anything for a day, at the latest time known of each: the report of leaving
 * is lost. Whoever begins to wait after that comes back.
 *
 * @returns how many it ended
 */
export const endSilentWaits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => leaveSilently({ ...turn, now, since: now - SILENCE_UNTIL_END }));

const leaveSilently = preparedQuery((chore: Placeholders<Turn & { now: number; since: number }>) => {
  const { organization_id, call_id, left_at, updated_at } = participants;
  const waits = and(isNull(left_at), isNull(call_id));
  const silent = { time: updated_at, where: lte(updated_at, chore.since), indexed: waits };
  return builder
    .update(participants)
    .set({ ...leaveAt(latestTime), left_is_assumed: true, updated_at: chore.now })
    .where(isInTurn(participants, silent, chore))
    .returning({ owner_id: ownerIdOf(organization_id) });
});

/**
 * Erases the names, keys and references of participants whose stay is longer ago than their organization wants, and by a
 * trigger the references of their calls. What metrics, consents and audit entries need of them stays.
 *
 * @returns how many it erased
 */
export async function eraseParticipants(context: Context): Promise<number> {
  const { db, now, settings } = context;
  const erased = await takeTurns(CRON_PORTION, async (turn) => {
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
    const [, rows] = await runBatch(db, [
      recordErasures(context, "delete", { items }),
      erase({ items, now }),
    ]);
    return rows;
  });
  return erased.length;
}

/** A stay is over when the call has ended, with all that may still come of it, and no legal hold keeps it. */
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
      key: participants.key,
      external_reference: participants.external_reference,
    })
    .from(participants)
    .where(isPastRetention(participants, due, chore));
});

const read = alias(participants, "read");

/**
 * Those of the items who can be erased. A hold that began meanwhile counts, and a reference that was reported meanwhile: its
 * digest is not that of the item.
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

/** The entries of those whom `erase` then erases, in the same transaction. */
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
      livekit_said: null,
      erased_at: now,
      updated_at: now,
    })
    .from(jsonRows(items))
    .where(and(eq(participants.id, jsonField("id")), isErasable(items)))
    .returning({ owner_id: ownerIdOf(participants.organization_id) }),
);

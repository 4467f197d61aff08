import { and, eq, inArray, isNotNull, isNull, not, notExists, or } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { pastRetentionInTurn } from "../../database/retention.ts";
import { calls, organizations, participants } from "../../database/schema.ts";
import { type ChoreTurn, ownerIdOf, rowid, workOffRecorded } from "../../database/turns.ts";
import { CRON_PORTION } from "../../limits.ts";
import { callEntries, isHeld } from "./calls.sql.ts";

/**
 * Erases the references of calls, where their organization does not keep names for so long. Those of calls with participants
 * go with the first of these (see triggers/tombstones.sql), but for calls that nobody joined, and after a legal hold.
 *
 * @returns how many it erased
 */
export const eraseReferences = (context: Context): Promise<number> =>
  workOffRecorded(
    context,
    CRON_PORTION,
    (chore) => recordErasures(context, "update", chore),
    eraseDueReferences,
  );

/** True for the calls whose reference is due. */
function isDue(chore: Placeholders<ChoreTurn>) {
  const named = builder
    .select({ id: participants.id })
    .from(participants)
    .where(and(eq(participants.call_id, calls.id), isNull(participants.erased_at)));
  const due = {
    time: calls.ended_at,
    days: organizations.participant_retention_days,
    where: and(
      or(isNotNull(calls.external_reference), isNotNull(calls.livekit_said)),
      notExists(named),
      not(isHeld(calls.id)),
    ),
  };
  return inArray(rowid, pastRetentionInTurn(calls, due, chore.now, chore));
}

const recordErasures = callEntries(isDue);

const eraseDueReferences = preparedQuery((chore: Placeholders<ChoreTurn>) =>
  builder
    .update(calls)
    .set({
      external_reference: null,
      livekit_said: null,
      reference_erased_at: chore.now,
      updated_at: chore.now,
    })
    .where(isDue(chore))
    .returning({ owner_id: ownerIdOf(calls.organization_id) }),
);

import { and, eq, isNotNull, isNull, not, notExists } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isHeld, isPastRetention } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import { type ChoreTurn, workOffRecorded } from "../../database/turns.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { participants } from "../participants/participants.table.ts";
import { callEntries } from "./calls.sql.ts";
import { calls } from "./calls.table.ts";

/**
 * Erases the references of calls past their organization's retention of names. A trigger erases most of them together with the
 * call's first participant (see calls.triggers.sql). This chore erases the rest: the references of calls that nobody joined,
 * and of calls that were under legal hold at the time.
 */
export const eraseReferences = (context: Context): Promise<number> =>
  workOffRecorded(
    context,
    CRON_PORTION,
    (chore) => recordErasures(context, "update", chore),
    eraseDueReferences,
  );

function isReferenceDue(chore: Placeholders<ChoreTurn>) {
  const named = selectColumn(
    participants.id,
    eq(participants.call_id, calls.id),
    isNull(participants.erased_at),
  );
  const due = {
    time: calls.ended_at,
    days: organizations.participant_retention_days,
    where: and(isNotNull(calls.external_reference), notExists(named), not(isHeld(calls.id))),
  };
  return isPastRetention(calls, due, chore);
}

const recordErasures = callEntries(isReferenceDue);

const eraseDueReferences = preparedQuery((chore: Placeholders<ChoreTurn>) =>
  builder
    .update(calls)
    .set({ external_reference: null, reference_erased_at: chore.now, updated_at: chore.now })
    .where(isReferenceDue(chore))
    .returning({ organization_id: calls.organization_id }),
);

import { and, eq, inArray, isNotNull, isNull, lte, not, notExists, or, sql } from "drizzle-orm";
import { calls } from "../../calls/calls/calls.table.ts";
import type { Context } from "../../context.ts";
import { greatest, iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isPastRetention } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import {
  type ChoreTurn,
  isInTurn,
  ownerIdOf,
  type Turn,
  workOff,
  workOffRecorded,
} from "../../database/turns.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { participantsWithout } from "./visits.erasure.ts";
import { callsOfVisit, hasHeldCall, visitEntries } from "./visits.sql.ts";
import { visits } from "./visits.table.ts";

/**
 * Updates the status of visits whose time is over: to `missed` if no recipient came, to `ended` once their last call has ended.
 *
 * @returns the number of updated visits
 */
export const endVisits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => endDueVisits({ ...turn, now }));

/** Must repeat the partial index's WHERE, or SQLite does not use the index. */
const isOpen = sql`${visits.status} in ('planned', 'started')`;

const endDueVisits = preparedQuery((chore: Placeholders<Turn & { now: number }>) => {
  const goingOn = selectColumn(calls.id, inArray(calls.id, callsOfVisit()), isNull(calls.ended_at));
  const due = {
    time: visits.ends_at,
    indexed: isOpen,
    where: and(lte(visits.ends_at, chore.now), or(eq(visits.status, "planned"), notExists(goingOn))),
  };
  return builder
    .update(visits)
    .set({
      status: iif(eq(visits.status, "planned"), "missed", "ended"),
      updated_at: greatest(chore.now, visits.updated_at),
    })
    .where(isInTurn(visits, due, chore))
    .returning({ owner_id: ownerIdOf(visits.organization_id) });
});

/**
 * Erases the names and references of visits past their organization's retention, except visits with a call under legal hold.
 *
 * @returns the number of erased visits
 */
export const eraseVisits = (context: Context): Promise<number> =>
  workOffRecorded(context, CRON_PORTION, (chore) => recordErasures(context, "delete", chore), eraseDueVisits);

/** True for the visits that are due. A visit is not over while it is planned, or while one of its calls is going on. */
function isDue(chore: Placeholders<ChoreTurn>) {
  const due = {
    time: visits.over_at,
    days: organizations.participant_retention_days,
    where: and(isNotNull(visits.over_at), isNull(visits.erased_at), not(hasHeldCall())),
  };
  return isPastRetention(visits, due, chore);
}

const recordErasures = visitEntries(isDue);

const eraseDueVisits = preparedQuery((chore: Placeholders<ChoreTurn>) =>
  builder
    .update(visits)
    .set({
      external_reference: null,
      participants: participantsWithout(sql`true`),
      erased_at: chore.now,
      updated_at: greatest(chore.now, visits.updated_at),
    })
    .where(isDue(chore))
    .returning({ owner_id: ownerIdOf(visits.organization_id) }),
);

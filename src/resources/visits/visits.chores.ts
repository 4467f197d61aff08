import { and, eq, inArray, isNotNull, isNull, lte, notExists, or, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { greatest, iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { isPastRetention } from "../../database/retention.ts";
import { calls, organizations, visits } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import {
  type ChoreTurn,
  isInTurn,
  ownerIdOf,
  type Turn,
  workOff,
  workOffRecorded,
} from "../../database/turns.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { isHeld } from "../calls/calls.sql.ts";
import { ERASED_NAME } from "../participants/participants.schemas.ts";
import { callsOfVisit, visitEntries } from "./visits.sql.ts";

/**
 * Says of visits whose time is over what has become of them: nobody came, or they have ended, with their last call. A database
 * that was restored waits until it is resumed: reports may have been lost.
 *
 * @returns how many there were
 */
export const endVisits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => endDueVisits({ ...turn, now }));

/** In the words of the index. */
const isOpen = sql`${visits.status} in ('planned', 'started')`;

const endDueVisits = preparedQuery((chore: Placeholders<Turn & { now: number }>) => {
  const goingOn = selectColumn(calls.id, inArray(calls.id, callsOfVisit()), isNull(calls.ended_at));
  const due = {
    time: visits.ends_at,
    indexed: isOpen,
    where: and(
      lte(visits.ends_at, chore.now),
      or(eq(visits.status, "planned"), notExists(goingOn)),
      isNotQuiet(),
    ),
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
 * Erases names and references of visits that are longer ago than their organization wants; not those of a call under legal hold.
 *
 * @returns how many visits
 */
export const eraseVisits = (context: Context): Promise<number> =>
  workOffRecorded(context, CRON_PORTION, (chore) => recordErasures(context, "delete", chore), eraseDueVisits);

/** True for the visits that are due: a visit is not over while it is planned, or a call of it goes on. */
function isDue(chore: Placeholders<ChoreTurn>) {
  const held = selectColumn(calls.id, inArray(calls.id, callsOfVisit()), isHeld(calls.id));
  const due = {
    time: visits.over_at,
    days: organizations.participant_retention_days,
    where: and(isNotNull(visits.over_at), isNull(visits.erased_at), notExists(held)),
  };
  return isPastRetention(visits, due, chore);
}

const recordErasures = visitEntries(isDue);

const eraseDueVisits = preparedQuery((chore: Placeholders<ChoreTurn>) =>
  builder
    .update(visits)
    .set({
      external_reference: null,
      participants: sql`(
        select json_group_array(json_set(value, '$.display_name', ${ERASED_NAME}, '$.external_reference', null) order by key)
        from json_each(${visits.participants})
      )`,
      erased_at: chore.now,
      updated_at: greatest(chore.now, visits.updated_at),
    })
    .where(isDue(chore))
    .returning({ owner_id: ownerIdOf(visits.organization_id) }),
);

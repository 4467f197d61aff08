import { and, eq, inArray, isNull, lte, notExists, or, sql } from "drizzle-orm";
import { calls } from "../../calls/calls/calls.table.ts";
import type { Context } from "../../context.ts";
import { greatest, iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, type Turn, workOff } from "../../database/turns.ts";
import { callsOfVisit } from "./visits.sql.ts";
import { visits } from "./visits.table.ts";

/** Visits whose time is over become `missed` if no recipient came, and `ended` once their last call has ended. */
export const endVisits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => endDueVisits({ ...turn, now }));

const endDueVisits = preparedQuery((chore: Placeholders<Turn & { now: number }>) => {
  const goingOn = selectColumn(calls.id, inArray(calls.id, callsOfVisit()), isNull(calls.ended_at));
  const due = {
    time: visits.ends_at,
    // Must repeat the partial index's WHERE, or SQLite does not use the index.
    indexed: sql`${visits.status} in ('planned', 'started')`,
    where: and(lte(visits.ends_at, chore.now), or(eq(visits.status, "planned"), notExists(goingOn))),
  };
  return builder
    .update(visits)
    .set({
      status: iif(eq(visits.status, "planned"), "missed", "ended"),
      updated_at: greatest(chore.now, visits.updated_at),
    })
    .where(isInTurn(visits, due, chore))
    .returning({ organization_id: visits.organization_id });
});

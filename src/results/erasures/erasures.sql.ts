import { eq, type SQLWrapper, sql } from "drizzle-orm";
import { selectErasable, selectStates } from "../../calls/participants/participants.erasure.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { ERASURES_COUNTED } from "../../limits.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import {
  type NamedPerson,
  selectErasableVisits,
  selectVisitStates,
} from "../../rooms/visits/visits.erasure.ts";

const numberOf = (rows: SQLWrapper) => sql<number>`(select count(*) from ${rows})`;

const numberInState = (rows: SQLWrapper, state: string) =>
  sql<number>`(select count(*) from ${rows} where state = ${state})`;

/**
 * Counts the rows that still name a person after a portion was erased. The erasable rows have queries of their own, which read past
 * all other rows, so that their number is never 0 while one is left.
 */
export const countLeft = preparedQuery((person: Placeholders<NamedPerson & { erased_count: number }>) => {
  const participations = selectStates(person).limit(ERASURES_COUNTED);
  const visits = selectVisitStates(person).limit(ERASURES_COUNTED);
  const erasable = selectErasable(person).limit(ERASURES_COUNTED);
  const erasableVisits = selectErasableVisits(person).limit(ERASURES_COUNTED);
  return builder
    .select({
      erased_count: sql<number>`${person.erased_count}`.as("erased_count"),
      held_count: sql<number>`${numberInState(participations, "held")} + ${numberInState(visits, "held")}`.as(
        "held_count",
      ),
      ongoing_count: numberInState(participations, "ongoing").as("ongoing_count"),
      remaining_count: sql<number>`${numberOf(erasable)} + ${numberOf(erasableVisits)}`.as("remaining_count"),
    })
    .from(organizations)
    .where(eq(organizations.id, person.organization_id));
});

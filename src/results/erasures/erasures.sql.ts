import { eq, type SQLWrapper, sql } from "drizzle-orm";
import type { OfReference } from "../../audit/access_logs/access_logs.sql.ts";
import {
  isErasable,
  selectStates,
  selectVisitStates,
} from "../../calls/participants/participants.erasure.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { ERASURES_COUNTED } from "../../limits.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";

/**
 * Counts the participations and visits that still name a person after a portion was erased. The erasable ones have queries of their
 * own, which read past all others, so that their number is never 0 while one is left.
 */
export const countLeft = preparedQuery((of: Placeholders<OfReference & { erased_count: number }>) => {
  const participations = selectStates(of).limit(ERASURES_COUNTED);
  const visits = selectVisitStates(of).limit(ERASURES_COUNTED);
  const numberIn = (state: string, participations: SQLWrapper, visits: SQLWrapper) =>
    sql<number>`(select count(*) from ${participations} where state = ${state})
      + (select count(distinct visit_id) from ${visits} where state = ${state})`;
  return builder
    .select({
      erased_count: sql<number>`${of.erased_count}`.as("erased_count"),
      held_count: numberIn("held", participations, visits).as("held_count"),
      ongoing_count: numberIn("ongoing", participations, visits).as("ongoing_count"),
      remaining_count: numberIn(
        "erasable",
        selectStates(of, isErasable).limit(ERASURES_COUNTED),
        selectVisitStates(of, isErasable).limit(ERASURES_COUNTED),
      ).as("remaining_count"),
    })
    .from(organizations)
    .where(eq(organizations.id, of.organization_id));
});

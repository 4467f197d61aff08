import { and, asc, eq, exists, gt, gte, inArray, isNotNull, lt, lte, or, sql } from "drizzle-orm";
import { entryOfOrganization, type FilterDates } from "../../audit/access_logs/access_logs.entries.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { coalesce, columnAs, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { EGRESSES_LOOKED_THROUGH } from "../../limits.ts";
import { type Reach, reachedIds } from "../../organization/members/members.sql.ts";
import { egressColumns } from "./egresses.sql.ts";
import { egresses, visibleRecordings } from "./egresses.table.ts";

interface ListedEgresses extends Reach {
  after: number;
  /** The start of the call. `from` is included, `before` is not. */
  from: number;
  before: number;
  limit: number;
}

/** `calls` can be joined, because every visible recording has a call. */
export const listedEgressColumns = {
  ...egressColumns,
  listed_call_id: columnAs(calls.id, "listed_call_id"),
  organization_user_id: calls.organization_user_id,
};

/** The last recording that a request searches, if others follow. */
export const lastEgressLookedThrough = preparedQuery((listed: Placeholders<Part>) => lookedThrough(listed));

type Part = Pick<ListedEgresses, "organization_id" | "after">;

const lookedThrough = ({ organization_id, after }: Placeholders<Part>) =>
  selectColumn(
    egresses.id,
    eq(egresses.organization_id, organization_id),
    isNotNull(egresses.call_id),
    gt(egresses.id, after),
  )
    .orderBy(asc(egresses.id))
    .limit(1)
    .offset(EGRESSES_LOOKED_THROUGH - 1);

/** Ordered by id. Searches a limited number, because the client may be allowed to see only a few of them. */
export const visibleEgresses = preparedQuery((listed: Placeholders<ListedEgresses>) => {
  const { organization_id, after, from, before, reaches_everybody, limit } = listed;
  const { id } = visibleRecordings;
  const isVisible = builder.select({ id }).from(visibleRecordings).where(eq(id, egresses.id));
  return builder
    .select(listedEgressColumns)
    .from(egresses)
    .innerJoin(calls, eq(calls.id, egresses.call_id))
    .where(
      and(
        eq(egresses.organization_id, organization_id),
        isNotNull(egresses.call_id),
        gt(egresses.id, after),
        lte(egresses.id, coalesce(scalar(lookedThrough(listed)), sql`${Number.MAX_SAFE_INTEGER}`)),
        gte(calls.started_at, from),
        lt(calls.started_at, before),
        or(sql`${reaches_everybody}`, inArray(calls.organization_user_id, reachedIds(listed))),
        exists(isVisible),
      ),
    )
    .orderBy(asc(egresses.id))
    .limit(limit);
});

export const egressListEntry = entryOfOrganization(
  "egress",
  (of: Placeholders<FilterDates & { organization_id: number }>) => ({
    from_date: of.from_date,
    to_date: of.to_date,
  }),
);

import { and, asc, eq, inArray, not, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { greatest, hasValues, iif } from "../../database/expressions.ts";
import {
  type BoundQuery,
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type RowsOf,
  type Value,
} from "../../database/queries.ts";
import { ERASED_NAME } from "../../database/retention.ts";
import { ERASED_PORTION } from "../../limits.ts";
import { hasHeldCall, visitEntries } from "./visits.sql.ts";
import { visitReferences, visits } from "./visits.table.ts";

/* The erasure of names in visits: of all names by retention (visits.chores.ts), or of one person on request (results/erasures). */

/** The participants of a visit without the names and references of those for whom `isErased` is true, given the JSON `value`. */
export const participantsWithout = (isErased: SQL): SQL => sql`(
  select json_group_array(json(iif(${isErased},
    json_set(value, '$.display_name', ${ERASED_NAME}, '$.external_reference', null), value)) order by key)
  from json_each(${visits.participants})
)`;

/** The digest finds the visits that name the person, or named them before. */
export interface NamedPerson {
  organization_id: number;
  external_reference: string;
  reference_digest: string;
}

const isPerson = (external_reference: Value<string>) =>
  sql`value ->> '$.external_reference' = ${external_reference}`;

const isNamed = ({ external_reference }: Placeholders<NamedPerson>) =>
  sql`exists (select 1 from json_each(${visits.participants}) where ${isPerson(external_reference)})`;

const mayNamePerson = ({ organization_id, reference_digest }: Placeholders<NamedPerson>) =>
  and(hasValues(visitReferences, { organization_id, reference_digest }), not(visitReferences.is_erased));

const isOfReference = eq(visits.id, visitReferences.visit_id);

/** Selects the visits from which the person must still be erased, except those that a legal hold keeps. */
export const selectErasableVisits = (person: Placeholders<NamedPerson>) =>
  builder
    .select({ id: visits.id, is_named: isNamed(person).mapWith(Boolean).as("is_named") })
    .from(visitReferences)
    .innerJoin(visits, isOfReference)
    .where(and(mayNamePerson(person), not(hasHeldCall())));

export const erasableVisitsPortion = preparedQuery((person: Placeholders<NamedPerson>) =>
  selectErasableVisits(person).orderBy(asc(visitReferences.visit_id)).limit(ERASED_PORTION),
);

type ErasableVisit = RowsOf<[ReturnType<typeof erasableVisitsPortion>]>[0][number];

/** Selects the `state` of each of these visits: `held` if it names the person and a legal hold keeps it. */
export const selectVisitStates = (person: Placeholders<NamedPerson>) =>
  builder
    .select({ state: iif(sql`${and(isNamed(person), hasHeldCall())}`, "held", "other").as("state") })
    .from(visitReferences)
    .innerJoin(visits, isOfReference)
    .where(mayNamePerson(person));

/**
 * Returns the statements that erase a person from visits and record each change in the access log. The visit's own reference may
 * identify the person, so it is erased too. A visit that does not name the person any more does not change.
 */
export function erasureFromVisits(
  context: Context,
  person: NamedPerson,
  found: ErasableVisit[],
): BoundQuery<unknown>[] {
  const idsOf = (some: ErasableVisit[]) => JSON.stringify(some.map(({ id }) => id));
  const ids = idsOf(found.filter(({ is_named }) => is_named));
  return [
    recordErasures(context, "update", { ids }),
    erasePerson({ ids, external_reference: person.external_reference, now: context.now }),
    noteErasure({ ...person, ids: idsOf(found) }),
  ];
}

const recordErasures = visitEntries(({ ids }: Placeholders<{ ids: string }>) =>
  inArray(visits.id, jsonValues(ids)),
);

const erasePerson = preparedQuery(
  ({
    ids,
    external_reference,
    now,
  }: Placeholders<{ ids: string; external_reference: string; now: number }>) =>
    builder
      .update(visits)
      .set({
        external_reference: null,
        participants: participantsWithout(isPerson(external_reference)),
        updated_at: greatest(now, sql`${visits.updated_at} + 1`),
      })
      .where(inArray(visits.id, jsonValues(ids))),
);

const noteErasure = preparedQuery(
  ({ organization_id, reference_digest, ids }: Placeholders<NamedPerson & { ids: string }>) =>
    builder
      .update(visitReferences)
      .set({ is_erased: true })
      .where(
        and(
          hasValues(visitReferences, { organization_id, reference_digest }),
          inArray(visitReferences.visit_id, jsonValues(ids)),
        ),
      ),
);

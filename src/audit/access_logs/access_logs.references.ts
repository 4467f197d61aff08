import { and, eq, exists, not, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { columnAs, withoutIndex } from "../../database/expressions.ts";
import { builder, type Values } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { formerReferences, people } from "../../rooms/people/people.table.ts";

/*
 * Finds people by the digest of a reference (`digestsOfReferences`): of the one that they have, or of any that they had before.
 * `participants.person_id` and `people.visit_id` connect a record with its participations and its visit.
 */

export interface OfReference {
  organization_id: number;
  reference_digest: string | null;
}

const isOfReference = (
  table: typeof people | typeof formerReferences,
  { organization_id, reference_digest }: Values<OfReference>,
) => sql`${table.organization_id} = ${organization_id} and ${table.reference_digest} = ${reference_digest}`;

const one = alias(people, "one");

const hasReference = (person_id: SQLWrapper, { reference_digest }: Values<OfReference>): SQL =>
  exists(
    selectColumn(one.id, eq(one.id, person_id), eq(withoutIndex(one.reference_digest), reference_digest)),
  );

/**
 * Selects the ids of the people who have or had the reference, each once.
 *
 * @param condition selects among those who have it
 */
export const peopleOfReference = (of: Values<OfReference>, condition?: SQL) =>
  unionAll(
    builder
      .select({ id: columnAs(people.id, "id") })
      .from(people)
      .where(and(isOfReference(people, of), condition)),
    builder
      .select({ id: columnAs(formerReferences.person_id, "id") })
      .from(formerReferences)
      // A person can have a former reference again.
      .where(and(isOfReference(formerReferences, of), not(hasReference(formerReferences.person_id, of)))),
  );

/** True for a person who had the reference before. */
export const hadReference = (person_id: SQLWrapper, of: Values<OfReference>): SQL =>
  exists(
    selectColumn(
      formerReferences.person_id,
      isOfReference(formerReferences, of),
      eq(formerReferences.person_id, person_id),
    ),
  );

/** True for a person who has the reference, or had it before. Costs the same, however many people do. */
export const hasHadReference = (person_id: SQLWrapper, of: Values<OfReference>): SQL | undefined =>
  or(hasReference(person_id, of), hadReference(person_id, of));

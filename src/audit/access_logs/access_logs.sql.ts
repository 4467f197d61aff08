import { and, eq, getTableColumns, notExists, type SQL, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { keyedDigests } from "../../bytes/digest.ts";
import { columnAs, withoutIndex } from "../../database/expressions.ts";
import { builder, type Values } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { formerReferences, people } from "../../rooms/people/people.table.ts";
import type { Settings } from "../../settings.ts";
import { accessLogs } from "./access_logs.table.ts";

const { organization_id: _, reference_digest: __, request_id, ...ownColumns } = getTableColumns(accessLogs);

export const accessLogColumns = {
  ...ownColumns,
  /** As hex, because D1 returns a BLOB as an array of numbers. */
  request_id: sql<string | null>`iif(${request_id} is null, null, lower(hex(${request_id})))`.as(
    "request_id",
  ),
};

/** The digest by which a person, and the searches for them, are found. It differs from the digest of a key. null without a reference. */
export async function digestOfReference({ DIGEST_SECRET }: Settings, reference: string | null | undefined) {
  if (!reference) return null;
  const [digest = null] = await keyedDigests(DIGEST_SECRET, [`reference ${reference}`]);
  return digest;
}

/*
 * Finds people by the digest of a reference: of the one that they have, or of any that they had before.
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

/** Selects the ids of the people who have or had the reference, each once. `condition` selects among those who have it. */
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
      .where(and(isOfReference(formerReferences, of), notExists(hasItAgain(of)))),
  );

const hasItAgain = ({ reference_digest }: Values<OfReference>) =>
  selectColumn(
    one.id,
    eq(one.id, formerReferences.person_id),
    eq(withoutIndex(one.reference_digest), reference_digest),
  );

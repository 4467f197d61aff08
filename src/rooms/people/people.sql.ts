import { and, eq, exists, getTableColumns, inArray, isNotNull, type SQL, sql } from "drizzle-orm";
import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { coalesce, columnAs, hasValues, iif } from "../../database/expressions.ts";
import { insertRows, jsonField, jsonRows } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
  type Value,
} from "../../database/queries.ts";
import { ERASED_NAME } from "../../database/retention.ts";
import { newestId, selectColumn } from "../../database/selects.ts";
import type { Settings } from "../../settings.ts";
import { visits } from "../visits/visits.table.ts";
import { people } from "./people.table.ts";

const { visit_starts_at: _, over_at: __, reference_digest: ___, ...personColumns } = getTableColumns(people);

/** All columns that decisions depend on. Triggers maintain the others. */
export { personColumns };

export type Person = Row<typeof personColumns>;

export type PersonRow = Omit<Person, "id"> & { id?: number };

const insertPeople = insertRows<typeof people, PersonRow & { reference_digest: string | null }>(people, {
  computed: {
    // A new person of a visit without an id belongs to the visit that the transaction has just inserted.
    visit_id: coalesce(
      jsonField("visit_id"),
      iif(sql`${jsonField("number")} is null`, null, sql`${newestId(visits)}`),
    ),
  },
});

/** An UPDATE of the key (organization_id, id) would make SQLite search all rows that refer to people. */
const { id, organization_id, visit_id, created_at, ...written } = personColumns;

const updatePeople = preparedQuery(({ rows }: Placeholders<{ rows: string }>) => {
  const names = [...Object.keys(written), "reference_digest"];
  return builder
    .update(people)
    .set(Object.fromEntries(names.map((name) => [name, jsonField(name)])))
    .from(jsonRows(rows))
    .where(eq(people.id, jsonField("id")));
});

/** Writes new and known people. New ones get consecutive ids, in their order. */
export async function writePeople(settings: Settings, rows: PersonRow[]): Promise<BoundQuery<unknown>[]> {
  const digested = await Promise.all(
    rows.map(async (row) => ({
      ...row,
      reference_digest: await digestOfReference(settings, row.external_reference),
    })),
  );
  const added = digested.filter(({ id }) => id === undefined);
  const changed = digested.filter(({ id }) => id !== undefined);
  return [
    ...(added.length > 0 ? [insertPeople(added)] : []),
    ...(changed.length > 0 ? [updatePeople({ rows: JSON.stringify(changed) })] : []),
  ];
}

/**
 * The id of a person, from a column of a JSON or bound row. Numbers up to 0 are those of new people, counted backwards from the last
 * one that the transaction has inserted.
 */
export const idOfPerson = (person_id: SQL): SQL =>
  sql`iif(${person_id} > 0, ${person_id}, ${newestId(people)} + ${person_id})`;

/** Selects the ids of people whom visits name. @param numbers a JSON array of pairs: the visit's id, and the person's number in it */
export const selectPlanned = (organization_id: Value<number>, numbers: Value<string>) =>
  builder
    .select({ id: columnAs(people.id, "id") })
    .from(sql`json_each(${numbers}) as item`)
    .crossJoin(people)
    .where(
      and(
        sql`${people.visit_id} = item.value ->> 0 and ${people.number} = item.value ->> 1`,
        eq(people.organization_id, organization_id),
      ),
    );

export const peopleOfVisit = preparedQuery(
  ({ organization_id, visit_id }: Placeholders<{ organization_id: number; visit_id: number }>) =>
    builder
      .select(personColumns)
      .from(people)
      .where(and(hasValues(people, { organization_id, visit_id }), isNotNull(people.number)))
      .orderBy(people.number),
);

/** Removes people from their visit. A person who never came is erased at once. @param ids a JSON array */
export const removePeople = preparedQuery(({ ids, now }: Placeholders<{ ids: string; now: number }>) => {
  const hasCome = sql`${exists(selectColumn(participants.id, eq(participants.person_id, people.id)))}`;
  return builder
    .update(people)
    .set({
      number: null,
      display_name: iif(hasCome, people.display_name, ERASED_NAME),
      external_reference: iif(hasCome, people.external_reference, null),
      reference_digest: iif(hasCome, people.reference_digest, null),
      erased_at: iif(hasCome, people.erased_at, now),
      updated_at: now,
    })
    .where(inArray(people.id, jsonValues(ids)));
});

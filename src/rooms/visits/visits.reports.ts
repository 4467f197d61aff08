import { and, asc, eq, inArray, ne } from "drizzle-orm";
import { columnAs, greatest } from "../../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
  type Value,
} from "../../database/queries.ts";
import type { Person } from "../people/people.sql.ts";
import { visits } from "./visits.table.ts";

/*
 * A participant who uses the link of a visit is reported under a key that names the visit, in a waiting room or on a call.
 * This file defines what such a key means.
 */

export const visitKey = (visit_id: number, participant_id: number): string =>
  `visit-${visit_id}-${participant_id}`;

/** On a further call, the platform adds its own text before or after the key. */
const idsInKey = (key: string): number[] =>
  /(?:^|:)visit-([1-9]\d{0,15})-([1-9]\d{0,15})(?=:|$)/.exec(key)?.slice(1).map(Number) ?? [];

/** The visits and people named by keys, as JSON arrays: the ids of visits, and the pairs of a visit's id and a number in it. */
export const plannedIn = (keys: string[]) => {
  const numbers = keys.map(idsInKey).filter(({ length }) => length > 0);
  return {
    visit_ids: JSON.stringify(numbers.map(([visit_id]) => visit_id)),
    numbers: JSON.stringify(numbers),
  };
};

const namedColumns = {
  visit_id: columnAs(visits.id, "visit_id"),
  visit_status: columnAs(visits.status, "visit_status"),
  visit_holder_id: columnAs(visits.organization_user_id, "visit_holder_id"),
  visit_reference: columnAs(visits.external_reference, "visit_reference"),
};

export type NamedVisit = Row<typeof namedColumns>;

/** Selects the organization's visits with these ids, except cancelled visits, whose keys have no special meaning. */
export const selectNamedVisits = (organization_id: Value<number>, ids: Value<string>) =>
  builder
    .select(namedColumns)
    .from(visits)
    .where(
      and(
        inArray(visits.id, jsonValues(ids)),
        eq(visits.organization_id, organization_id),
        ne(visits.status, "cancelled"),
      ),
    )
    .orderBy(asc(visits.id));

/** The visit's participant whose key this is; undefined for any other key, and if they were removed from the visit. */
export function plannedOf(named: NamedVisit[], people: Person[], key: string) {
  const [visit_id, number] = idsInKey(key);
  const visit = named.find((each) => each.visit_id === visit_id);
  const person = people.find((each) => each.visit_id === visit_id && each.number === number);
  return visit && person && { ...visit, person };
}

export type PlannedParticipant = NonNullable<ReturnType<typeof plannedOf>>;

/** The visits that start when these participants join a call. A missed visit can start too. The roles are those in the visit. */
export function visitsStartedBy(comers: PlannedParticipant[]): number[] {
  const starting = comers.filter(({ person, visit_status: status }) => {
    return person.role === "recipient" && (status === "planned" || status === "missed");
  });
  return [...new Set(starting.map(({ visit_id }) => visit_id))];
}

/** @param ids a JSON array */
export const startVisits = preparedQuery((of: Placeholders<{ ids: string; now: number }>) =>
  builder
    .update(visits)
    .set({ status: "started", updated_at: greatest(of.now, visits.updated_at) })
    .where(inArray(visits.id, jsonValues(of.ids))),
);

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
import { visits } from "../../database/schema.ts";

/*
 * Those who come by the link of a visit are reported under a key that says so, in a waiting room, on a call, or as LiveKit's
 * identity. Everything that such a key means begins here.
 */

/** The key under which somebody is reported whom a visit names. */
export const visitKey = (visit_id: number, participant_id: number): string =>
  `visit-${visit_id}-${participant_id}`;

/** On a further call, the platform's own text stands before it or behind it. */
const VISIT_KEY = /(?:^|:)visit-([1-9]\d{0,15})-([1-9]\d{0,15})(?=:|$)/;

const idsInKey = (key: string): number[] => VISIT_KEY.exec(key)?.slice(1).map(Number) ?? [];

/** The ids of the visits that keys name: a JSON array. */
export const visitIdsOf = (keys: string[]): string =>
  JSON.stringify(keys.flatMap((key) => idsInKey(key)[0] ?? []));

const namedColumns = {
  visit_id: columnAs(visits.id, "visit_id"),
  visit_status: columnAs(visits.status, "visit_status"),
  visit_reference: columnAs(visits.external_reference, "visit_reference"),
  participants: visits.participants,
};

/** A visit that a key names, and whom it names. */
export type NamedVisit = Row<typeof namedColumns>;

/** Selects the visits of the organization with these ids. A key of a visit that was cancelled is a key like any other. */
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

/** Whom of them a key names: undefined too if they were removed. */
export function plannedOf(named: NamedVisit[], key: string) {
  const [visit_id, id] = idsInKey(key);
  const visit = named.find((each) => each.visit_id === visit_id);
  const planned = visit?.participants.find((each) => each.id === id);
  return visit && planned && { ...visit, ...planned };
}

/** Somebody whom a visit names, and what a report must know of the visit. */
export type PlannedParticipant = NonNullable<ReturnType<typeof plannedOf>>;

/** The visits that start when these are on a call: a missed one can. Who is a recipient, the visit says. */
export const visitsStartedBy = (comers: PlannedParticipant[]): number[] => [
  ...new Set(
    comers
      .filter(({ role, visit_status }) => role === "recipient" && /^(planned|missed)$/.test(visit_status))
      .map(({ visit_id }) => visit_id),
  ),
];

/** @param ids a JSON array */
export const startVisits = preparedQuery((of: Placeholders<{ ids: string; now: number }>) =>
  builder
    .update(visits)
    .set({ status: "started", updated_at: greatest(of.now, visits.updated_at) })
    .where(inArray(visits.id, jsonValues(of.ids))),
);

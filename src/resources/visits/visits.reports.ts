import { and, asc, eq, getTableColumns, inArray, ne } from "drizzle-orm";
import { columnAs, greatest } from "../../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
  type Value,
} from "../../database/queries.ts";
import { visitParticipants, visits } from "../../database/schema.ts";

/*
 * Those who come by the link of a visit are reported under a key that says so, in a waiting room, on a call, or as LiveKit's
 * identity. Everything that such a key means begins here.
 */

/** The key under which somebody is reported whom a visit names. */
export const visitKey = (participant_id: number): string => `visit-${participant_id}`;

/** On a further call, the platform's own text stands before it or behind it. */
const VISIT_KEY = /(?:^|:)visit-([1-9]\d{0,15})(?=:|$)/;

const participantIdOf = (key: string): number | undefined => {
  const [, digits] = VISIT_KEY.exec(key) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

/** The ids in those of the keys that have one: a JSON array. */
export const plannedIds = (keys: string[]): string =>
  JSON.stringify(keys.flatMap((key) => participantIdOf(key) ?? []));

const { organization_id, ...ownColumns } = getTableColumns(visitParticipants);

const plannedColumns = {
  ...ownColumns,
  visit_status: columnAs(visits.status, "visit_status"),
  visit_reference: columnAs(visits.external_reference, "visit_reference"),
};

/** Somebody whom a visit names, and what a report must know of the visit. */
export type PlannedParticipant = Row<typeof plannedColumns>;

/**
 * Selects those whom visits of the organization name by these ids. A key of a visit that was cancelled, or of somebody who was
 * removed from it, is a key like any other.
 */
export const selectPlanned = (owner_id: Value<number>, ids: Value<string>) =>
  builder
    .select(plannedColumns)
    .from(visitParticipants)
    .innerJoin(visits, eq(visits.id, visitParticipants.visit_id))
    .where(
      and(
        eq(organization_id, owner_id),
        inArray(visitParticipants.id, jsonValues(ids)),
        ne(visits.status, "cancelled"),
      ),
    )
    .orderBy(asc(visitParticipants.id));

/** Whom of them a key names. */
export const plannedOf = (planned: PlannedParticipant[], key: string): PlannedParticipant | undefined => {
  const id = participantIdOf(key);
  return planned.find((each) => each.id === id);
};

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

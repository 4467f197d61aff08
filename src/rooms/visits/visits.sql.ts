import {
  and,
  asc,
  eq,
  exists,
  type GetColumnData,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  isNull,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { entriesOf, entryOfOrganization } from "../../audit/access_logs/access_logs.entries.ts";
import type { OfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { ALL_ROOMS, WHOLE_ORGANIZATION } from "../../calls/call_metrics/call_metrics.table.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { hasValues, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { isNewest, rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { MAX_PLANNED_VISITS, MAX_VISIT_CALLS } from "../../limits.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import { type Reach, withinReach } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { dailyMetricsOf } from "../../organization/metrics/metrics.sql.ts";
import { isSuspended } from "../../organization/organizations/organizations.sql.ts";
import { people } from "../people/people.table.ts";
import { wayFrom } from "../waiting_room_subs/waiting_room_subs.sql.ts";
import { waitingRooms } from "../waiting_rooms/waiting_rooms.table.ts";
import type { VisitParticipant } from "./visits.schemas.ts";
import { visitDailyMetrics, visits } from "./visits.table.ts";

/** Selects the ids of the calls with a participant who used a link of the visit. */
export const callsOfVisit = () =>
  builder
    .select({ call_id: participants.call_id })
    .from(participants)
    .where(and(eq(participants.visit_id, visits.id), isNotNull(participants.call_id)))
    .groupBy(participants.call_id);

const ofRoom = <Field extends "slug" | "user_id" | "retired_at">(field: Field) =>
  scalar(selectColumn(waitingRooms[field], eq(waitingRooms.id, visits.waiting_room_id))) as SQL<
    GetColumnData<(typeof waitingRooms)[Field]>
  >;

const participantsOfVisit = builder
  .select({
    list: sql`json_group_array(json_object('id', ${people.number}, 'role', ${people.role}, 'display_name', ${people.display_name},
      'user_id', ${people.user_id}, 'external_reference', ${people.external_reference}) order by ${people.number})`,
  })
  .from(people)
  .where(and(eq(people.visit_id, visits.id), isNotNull(people.number)));

export const listedVisitColumns = {
  ...getTableColumns(visits),
  participants: sql`${participantsOfVisit}`
    .mapWith((list: string): VisitParticipant[] => JSON.parse(list))
    .as("participants"),
  call_ids: sql`(select cast(json_group_array(call_id) as text)
      from (${callsOfVisit().orderBy(asc(participants.call_id)).limit(MAX_VISIT_CALLS)}))`
    .mapWith((ids: string): number[] => JSON.parse(ids))
    .as("call_ids"),
};

export const visitColumns = {
  ...listedVisitColumns,
  waiting_room_slug: ofRoom("slug").as("waiting_room_slug"),
  /** null in an organization's room. */
  room_owner_id: ofRoom("user_id").as("room_owner_id"),
};

export const visitWrites = tableWrites(visits, visitColumns);

export const visitIdempotency = idempotencyOf(visitWrites, {
  external_reference: "repeated",
  participants: "repeated",
  status: "stored",
  waiting_room_slug: "stored",
  call_ids: "stored",
});

/** True for the visits whose holder the caller reaches, and for visits without a holder. */
export const visitsWithinReach = (reach: Values<Reach>): SQL | undefined =>
  and(
    eq(visits.organization_id, reach.organization_id),
    or(
      isNull(visits.organization_user_id),
      exists(
        selectColumn(
          organizationUsers.id,
          eq(organizationUsers.id, visits.organization_user_id),
          withinReach(reach),
        ),
      ),
    ),
  );

interface ReachedVisit extends Reach {
  id: number;
}

/** Also true for a caller who reaches the holder of one of the visit's calls, such as a substitute. */
const isReadableVisit = (visit: Values<ReachedVisit>) =>
  and(
    hasValues(visits, { organization_id: visit.organization_id, id: visit.id }),
    or(
      visitsWithinReach(visit),
      exists(
        builder
          .select({ id: calls.id })
          .from(calls)
          .innerJoin(organizationUsers, eq(organizationUsers.id, calls.organization_user_id))
          .where(and(inArray(calls.id, callsOfVisit()), withinReach(visit))),
      ),
    ),
  );

export const readableVisit = rowsWhere(visits, visitColumns, (visit: Placeholders<ReachedVisit>) =>
  isReadableVisit(visit),
);

export const visitOfPath = rowsWhere(visits, visitColumns, (visit: Placeholders<ReachedVisit>) =>
  and(eq(visits.id, visit.id), visitsWithinReach(visit)),
);

export const newestVisit = rowsWhere(visits, visitColumns, (_: object) => isNewest(visits));

export const visitEntry = entriesOf("visit", visits, { organization_user_id: visits.organization_user_id });

export const visitReadEntry = visitEntry.where(isReadableVisit);

export const participantSearchEntry = entryOfOrganization(
  "participant",
  ({ reference_digest }: Placeholders<OfReference>) => ({ reference_digest }),
);

export const visitQuota = rowsWhere(
  visitDailyMetrics,
  { is_full: gte(visitDailyMetrics.planned, MAX_PLANNED_VISITS).mapWith(Boolean).as("is_full") },
  ({ organization_id }: Placeholders<{ organization_id: number }>) =>
    hasValues(visitDailyMetrics, {
      organization_id,
      organization_user_id: WHOLE_ORGANIZATION,
      waiting_room_id: ALL_ROOMS,
      date: "",
    }),
);

export interface NamedByLink {
  organization_id: number;
  visit_id: number;
  created_at: number;
  participant_id: number;
}

export const visitOfLink = preparedQuery(
  ({ organization_id, visit_id: id, created_at, now }: Placeholders<NamedByLink & { now: number }>) =>
    builder
      .select({
        ...visitColumns,
        room_retired_at: ofRoom("retired_at").as("room_retired_at"),
        way: wayFrom(visits.waiting_room_id, now),
        is_suspended: isSuspended(visits.organization_id),
      })
      .from(visits)
      .where(hasValues(visits, { organization_id, id, created_at })),
);

export const dailyVisits = dailyMetricsOf(visitDailyMetrics);

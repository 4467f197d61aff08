import {
  and,
  asc,
  between,
  eq,
  exists,
  type GetColumnData,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  isNull,
  max,
  notInArray,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { columnAs, hasValues, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonFields, jsonRows, replaceAllBut } from "../../database/insert.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Values,
} from "../../database/queries.ts";
import {
  organizationUsers,
  participants,
  visitDailyMetrics,
  visitParticipants,
  visits,
  WHOLE_ORGANIZATION,
  waitingRooms,
} from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { MetricsRange, MetricsSubject } from "../../http/metrics.ts";
import { MAX_PLANNED_VISITS, MAX_VISIT_CALLS } from "../../limits.ts";
import { accessEntries, entriesOf, entryOfOrganization } from "../access_logs/access_logs.entries.ts";
import { idempotencyOf } from "../idempotency_keys/idempotency_keys.sql.ts";
import { type Reach, withinReach } from "../organization_users/organization_users.sql.ts";
import { selectActiveSub } from "../waiting_room_subs/waiting_room_subs.sql.ts";

/** Selects the participants of a visit as a JSON array of these fields. As text, or a guard would see JSON. */
const participantsAsJson = (fields: SQL) =>
  scalar<string>(
    builder
      .select({
        list: sql<string>`cast(json_group_array(${fields} order by ${visitParticipants.id}) as text)`,
      })
      .from(visitParticipants)
      .where(eq(visitParticipants.visit_id, visits.id)),
  );

/** Selects the ids of the calls that somebody was on who came by a link of the visit. */
export const callsOfVisit = () =>
  builder
    .select({ call_id: participants.call_id })
    .from(participants)
    .where(and(eq(participants.visit_id, visits.id), isNotNull(participants.call_id)))
    .groupBy(participants.call_id);

const ofRoom = <Field extends "slug" | "user_id" | "retired_at">(field: Field) =>
  scalar(
    builder
      .select({ value: columnAs(waitingRooms[field], "value") })
      .from(waitingRooms)
      .where(eq(waitingRooms.id, visits.waiting_room_id)),
  ) as SQL<GetColumnData<(typeof waitingRooms)[Field]>>;

/** Somebody whom a visit names. */
type VisitParticipant = Omit<typeof visitParticipants.$inferSelect, "organization_id" | "visit_id">;

const ownColumns = getTableColumns(visits);

export const visitColumns = {
  ...ownColumns,
  waiting_room_slug: ofRoom("slug").as("waiting_room_slug"),
  /** Null in a room of the organization. */
  room_owner_id: ofRoom("user_id").as("room_owner_id"),
  call_ids: sql`(select cast(json_group_array(call_id) as text)
      from (${callsOfVisit().orderBy(asc(participants.call_id)).limit(MAX_VISIT_CALLS)}))`
    .mapWith((ids: string): number[] => JSON.parse(ids))
    .as("call_ids"),
  participants: participantsAsJson(
    sql`json_object('id', ${visitParticipants.id}, 'role', ${visitParticipants.role}, 'display_name', ${visitParticipants.display_name}, 'user_id', ${visitParticipants.user_id}, 'external_reference', ${visitParticipants.external_reference})`,
  )
    .mapWith((list: string): VisitParticipant[] => JSON.parse(list))
    .as("participants"),
};

export const visitWrites = tableWrites(visits, ownColumns);

/** What a replay brings back of a creation: of those who take part only the ids, and no reference. The request has the rest. */
export const visitIdempotency = idempotencyOf(
  tableWrites(visits, {
    ...visitColumns,
    participants: participantsAsJson(sql`json_object('id', ${visitParticipants.id})`)
      .mapWith((list: string): VisitParticipant[] => JSON.parse(list))
      .as("participants"),
  }),
  ["external_reference"],
);

const newestId = builder.select({ id: max(visits.id) }).from(visits);

/** The visit that the transaction has just inserted. */
export const newestVisit = preparedQuery((_: Placeholders<object>) =>
  builder.select(visitColumns).from(visits).where(eq(visits.id, newestId)),
);

/** True for the visits whom a caller reaches: by their holder, and those that have none. */
export const visitsWithinReach = (reach: Values<Reach>): SQL | undefined =>
  and(
    eq(visits.organization_id, reach.organization_id),
    or(
      isNull(visits.organization_user_id),
      exists(
        builder
          .select({ id: organizationUsers.id })
          .from(organizationUsers)
          .where(and(eq(organizationUsers.id, visits.organization_user_id), withinReach(reach))),
      ),
    ),
  );

/** The visit that a path names, and who asks, as values of a query. */
export interface ReachedVisit extends Reach {
  id: number;
}

const isReachedVisit = (visit: Values<ReachedVisit>) =>
  and(eq(visits.id, visit.id), visitsWithinReach(visit));

export const visitOfPath = preparedQuery((visit: Placeholders<ReachedVisit>) =>
  builder.select(visitColumns).from(visits).where(isReachedVisit(visit)),
);

/** The entries about the visits that a condition selects. */
export const visitEntries = <Of extends object>(condition: (values: Placeholders<Of>) => SQL | undefined) =>
  accessEntries<Of>("visit", (values) => ({
    organization_id: visits.organization_id,
    resource_id: visits.id,
    organization_user_id: visits.organization_user_id,
    from: visits,
    where: condition(values),
  }));

/** The entry about the visit of the path, where it is within reach. */
export const visitEntry = visitEntries(isReachedVisit);

export const newVisitEntry = entriesOf("visit", visits, {
  organization_user_id: visits.organization_user_id,
}).ofNewest;

/** The entry of who reads a list of visits. */
export const visitListEntry = entryOfOrganization("visit");

/** Whether the organization has all the planned visits that it can have. */
export const visitQuota = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  builder
    .select({ is_full: gte(visitDailyMetrics.planned, MAX_PLANNED_VISITS).mapWith(Boolean).as("is_full") })
    .from(visitDailyMetrics)
    .where(
      hasValues(visitDailyMetrics, { organization_id, organization_user_id: WHOLE_ORGANIZATION, date: "" }),
    ),
);

/**
 * Writes those of a visit who are new or changed.
 *
 * @param list a JSON array of rows; without an id a new one
 * @param visit_id null for the visit that the transaction has just inserted
 */
export const writeVisitParticipants = preparedQuery(
  (of: Placeholders<{ organization_id: number; visit_id: number | null; list: string }>) =>
    insertSelect(
      visitParticipants,
      {
        ...jsonFields(visitParticipants),
        organization_id: of.organization_id,
        visit_id: sql`coalesce(${of.visit_id}, ${newestId})`,
      },
      { from: jsonRows(of.list) },
    ).onConflictDoUpdate({
      target: visitParticipants.id,
      set: replaceAllBut(visitParticipants, ["id", "organization_id", "visit_id"]),
    }),
);

/** Removes those of a visit who are not among the ids, a JSON array. */
export const removeOthers = preparedQuery((of: Placeholders<{ visit_id: number; ids: string }>) =>
  builder
    .delete(visitParticipants)
    .where(
      and(eq(visitParticipants.visit_id, of.visit_id), notInArray(visitParticipants.id, jsonValues(of.ids))),
    ),
);

/* By the link of a visit: */

/** Whom a link names, as values of a query. */
export interface NamedByLink {
  organization_id: number;
  visit_id: number;
  created_at: number;
  participant_id: number;
}

const isOfLink = ({ organization_id, visit_id: id, created_at }: Values<NamedByLink>) =>
  hasValues(visits, { organization_id, id, created_at });

export const visitOfLink = preparedQuery((link: Placeholders<NamedByLink>) =>
  builder
    .select({ ...visitColumns, room_retired_at: ofRoom("retired_at").as("room_retired_at") })
    .from(visits)
    .where(isOfLink(link)),
);

/** The sub that is active now in the visit's room. */
export const activeSubOfLink = preparedQuery((link: Placeholders<NamedByLink & { now: number }>) =>
  selectActiveSub(
    builder.select({ id: visits.waiting_room_id }).from(visits).where(isOfLink(link)),
    link.now,
  ),
);

const { date, planned, held, missed, cancelled } = visitDailyMetrics;

export const dailyVisitsColumns = { date, planned, held, missed, cancelled };

export const dailyVisits = preparedQuery(
  ({ organization_id, organization_user_id, start, end }: Placeholders<MetricsSubject & MetricsRange>) =>
    builder
      .select(dailyVisitsColumns)
      .from(visitDailyMetrics)
      .where(
        and(
          hasValues(visitDailyMetrics, { organization_id, organization_user_id }),
          between(date, start, end),
          // A date whose last visit was moved to another date keeps its row.
          gt(sql`${planned} + ${held} + ${missed} + ${cancelled}`, 0),
        ),
      )
      .orderBy(asc(date)),
);

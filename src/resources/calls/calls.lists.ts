import {
  and,
  desc,
  eq,
  exists,
  gte,
  inArray,
  isNull,
  not,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { columnAs, hasValues, withoutIndex } from "../../database/expressions.ts";
import {
  builder,
  type Placeholders,
  type PreparedQuery,
  preparedQuery,
  type Row,
} from "../../database/queries.ts";
import { calls, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import type { Position } from "../../http/pagination.ts";
import { CALLS_LOOKED_THROUGH } from "../../limits.ts";
import { reachedIds } from "../organization_users/organization_users.sql.ts";
import { isOfLaterCall } from "../participants/participants.sql.ts";
import { callColumns, ownerWithinReach, type ReachedOwner } from "./calls.sql.ts";

/** Which calls a list shows, as values of a query. */
export interface ListedCalls extends ReachedOwner {
  /** Only calls that started at this time or later. */
  from: number;
  /** Only calls before this position. */
  before_start: number;
  before_id: number;
  /** null for any. */
  external_reference: string | null;
  participant_reference: string | null;
  limit: number;
}

/** One way to list calls, newest first. */
interface CallList {
  page: PreparedQuery<ListedCalls, Row<typeof callColumns>>;
  /** The last call that a request looks through, if it has to stop there. */
  end: PreparedQuery<ListedCalls, Position>;
}

type Listed = Placeholders<ListedCalls>;

/** A list for each filter, so that an index leads to the calls, in their order. */
export interface CallLists {
  byTime: CallList;
  byReference: CallList;
  byParticipant: CallList;
}

/** One bound at each end, so that SQLite begins with the first call that is shown. */
const isInListedPart = (started_at: SQLWrapper, id: SQLWrapper, { from, before_start, before_id }: Listed) =>
  and(sql`(${started_at}, ${id}) < (${before_start}, ${before_id})`, gte(started_at, from));

const newestFirst = [desc(calls.started_at), desc(calls.id)];

/** For lists that show every call that they look through: no call has this id. */
const noEnd = preparedQuery((_: Listed) =>
  builder
    .select({ time: columnAs(calls.started_at, "time"), id: calls.id })
    .from(calls)
    .where(eq(calls.id, 0)),
);

const listByTime = (condition: (listed: Listed) => SQL): CallList => ({
  page: preparedQuery((listed: Listed) =>
    builder
      .select(callColumns)
      .from(calls)
      .where(and(condition(listed), isInListedPart(calls.started_at, calls.id, listed)))
      .orderBy(...newestFirst)
      .limit(listed.limit),
  ),
  end: noEnd,
});

const next = alias(calls, "next");

/**
 * The calls of several owners. No index has these in the order of time. So this merges the calls of each: it takes the newest
 * of all, and puts the next one of the same owner in its place.
 */
const pageOfReached = preparedQuery((listed: Listed) => {
  const newestCallOf = (owner: SQL, isBefore: SQL) =>
    sql`select found.organization_user_id, found.started_at, found.id from ${owner} cross join ${calls} found where found.id = ${selectColumn(
      next.id,
      eq(next.organization_user_id, sql`owner.id`),
      isBefore,
      gte(next.started_at, listed.from),
    )
      .orderBy(desc(next.started_at), desc(next.id))
      .limit(1)}`;
  const newest = newestCallOf(
    sql`${reachedIds(listed)} as owner`,
    sql`(${next.started_at}, ${next.id}) < (${listed.before_start}, ${listed.before_id})`,
  );
  const following = newestCallOf(
    sql`merged as owner`,
    sql`(${next.started_at}, ${next.id}) < (owner.started_at, owner.call_id)`,
  );
  const merged = sql`(with recursive merged (id, started_at, call_id) as (${newest} union all ${following}
    order by 2 desc, 3 desc limit ${listed.limit}) select call_id from merged)`;
  return builder
    .select(callColumns)
    .from(calls)
    .where(inArray(calls.id, merged))
    .orderBy(...newestFirst);
});

const looked = alias(calls, "looked");

/** The calls with a reference, newest first, and their starts. */
const callsByReference = (listed: Listed) =>
  builder
    .select({ time: columnAs(looked.started_at, "time"), id: looked.id })
    .from(looked)
    .where(
      and(
        hasValues(looked, {
          organization_id: listed.organization_id,
          external_reference: listed.external_reference,
        }),
        isInListedPart(looked.started_at, looked.id, listed),
      ),
    )
    .orderBy(desc(looked.started_at), desc(looked.id));

const taking = alias(participants, "taking");

/** Calls with a participant who has the reference. A call can come several times. */
const callsByParticipant = (listed: Listed) =>
  builder
    .select({ time: columnAs(taking.call_started_at, "time"), id: columnAs(taking.call_id, "id") })
    .from(taking)
    .where(
      and(
        hasValues(taking, {
          organization_id: listed.organization_id,
          external_reference: listed.participant_reference,
        }),
        isInListedPart(taking.call_started_at, taking.call_id, listed),
      ),
    )
    .orderBy(desc(taking.call_started_at), desc(taking.call_id));

/** Not somebody who was on a later call instead. */
const hasTakenPart = ({ organization_id, participant_reference }: Listed) =>
  exists(
    selectColumn(
      participants.id,
      hasValues(participants, {
        organization_id,
        external_reference: participant_reference,
        call_started_at: calls.started_at,
        call_id: calls.id,
      }),
      not(isOfLaterCall()),
    ),
  );

/**
 * A list of the calls with a reference, of which a caller may see few. So a request looks through a limited number. The page has
 * no ORDER BY, so that SQLite takes one after the other, and stops when it has as many as wanted.
 */
const lookThroughList = (
  lookThrough: typeof callsByReference | typeof callsByParticipant,
  isShown: (listed: Listed) => SQL | undefined,
): CallList => ({
  page: preparedQuery((listed: Listed) => {
    const entries = lookThrough(listed).limit(CALLS_LOOKED_THROUGH);
    return builder
      .select(callColumns)
      .from(sql`(select distinct time, id from (${entries})) as entry`)
      .crossJoin(calls)
      .where(and(eq(calls.id, sql`entry.id`), isShown(listed)))
      .limit(listed.limit);
  }),
  end: preparedQuery((listed: Listed) =>
    lookThrough(listed)
      .limit(1)
      .offset(CALLS_LOOKED_THROUGH - 1),
  ) as CallList["end"],
});

/** @param isWithin true for the calls of the owners that are meant; with `withoutIndex`, so that SQLite goes by the reference */
const listsByReferences = (isWithin: (listed: Listed) => SQL | undefined) => ({
  byReference: lookThroughList(callsByReference, isWithin),
  byParticipant: lookThroughList(callsByParticipant, (listed) =>
    and(
      isWithin(listed),
      or(
        isNull(listed.external_reference),
        eq(withoutIndex(calls.external_reference), listed.external_reference),
      ),
      hasTakenPart(listed),
    ),
  ),
});

/** The calls of the organization user whom a path names. */
export const callsOfOwner: CallLists = {
  byTime: listByTime((listed) => eq(calls.organization_user_id, ownerWithinReach(listed))),
  ...listsByReferences((listed) => eq(withoutIndex(calls.organization_user_id), ownerWithinReach(listed))),
};

/** The calls of all whom somebody reaches who reaches everybody. */
export const callsOfEverybody: CallLists = {
  byTime: listByTime(({ organization_id }) => eq(calls.organization_id, organization_id)),
  ...listsByReferences(() => undefined),
};

/** The calls of all whom somebody reaches who does not reach everybody. */
export const callsOfReached: CallLists = {
  byTime: { page: pageOfReached, end: noEnd },
  ...listsByReferences((listed) => inArray(withoutIndex(calls.organization_user_id), reachedIds(listed))),
};

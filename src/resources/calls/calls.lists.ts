import {
  and,
  between,
  desc,
  eq,
  gte,
  inArray,
  isNull,
  lt,
  not,
  or,
  type SQL,
  type SQLWrapper,
  sql,
  sum,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { coalesce, hasValues, withoutIndex } from "../../database/expressions.ts";
import {
  builder,
  type Placeholders,
  type PreparedQuery,
  preparedQuery,
  type Row,
} from "../../database/queries.ts";
import { callDailyMetrics, calls, participants, WHOLE_ORGANIZATION } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { pagedList } from "../../http/lists.ts";
import type { PageWindow } from "../../http/pagination.ts";
import { reachedIds } from "../organization_users/organization_users.sql.ts";
import { isOfLaterCall } from "../participants/participants.sql.ts";
import { callColumns, ownerWithinReach, type ReachedOwner } from "./calls.sql.ts";

/** Which calls a list shows, as values of a query. */
export interface ListedCalls extends ReachedOwner {
  /** Those that started from this time on, and before that. */
  from: number;
  before: number;
  /** The same as dates, `YYYY-MM-DD`, both included. */
  first_date: string;
  last_date: string;
  /** null for any. */
  external_reference: string | null;
  participant_reference: string | null;
}

/** A page ends with the one of this number; so many of each owner are enough for it. */
type Window = PageWindow & { end: number };

/** One way to list calls, newest first. */
interface CallList {
  page: PreparedQuery<ListedCalls & Window, Row<typeof callColumns>>;
  total: PreparedQuery<ListedCalls, { total: number }>;
}

type Listed = Placeholders<ListedCalls>;

/** The calls of those who are meant: by each filter another list, so that an index leads to what it shows. */
export interface CallLists {
  byTime: CallList;
  byReference: CallList;
  byParticipant: CallList;
}

const isInPeriod = ({ from, before }: Listed): SQL | undefined =>
  and(gte(calls.started_at, from), lt(calls.started_at, before));

const newestFirst = [desc(calls.started_at), desc(calls.id)];

/** A list whose total is counted over the index that leads to its rows. */
const countedList = (condition: (listed: Listed) => SQL | undefined) =>
  pagedList(calls, callColumns, newestFirst, (listed: Listed) => and(condition(listed), isInPeriod(listed)));

/** How many started on these dates, from the daily roll-up: a row for each owner and date. */
const totalOfDates = (owners: (listed: Listed) => SQLWrapper) =>
  preparedQuery((listed: Listed) =>
    builder
      .select({ total: coalesce(sum(callDailyMetrics.total_calls).mapWith(Number), 0).as("total") })
      .from(callDailyMetrics)
      .where(
        and(
          eq(callDailyMetrics.organization_id, listed.organization_id),
          inArray(callDailyMetrics.organization_user_id, owners(listed)),
          between(callDailyMetrics.date, listed.first_date, listed.last_date),
        ),
      ),
  );

/**
 * The lists by a reference.
 *
 * @param isWithin true for the calls of those who are meant; with `withoutIndex`, so that SQLite goes by the reference
 */
function byReferences(isWithin: (listed: Listed) => SQL | undefined) {
  const ofParticipant = ({ organization_id, participant_reference }: Listed) =>
    selectColumn(
      participants.call_id,
      hasValues(participants, { organization_id, external_reference: participant_reference }),
      not(isOfLaterCall()),
    );
  return {
    byReference: countedList((listed) =>
      and(
        hasValues(calls, {
          organization_id: listed.organization_id,
          external_reference: listed.external_reference,
        }),
        or(isNull(listed.participant_reference), inArray(calls.id, ofParticipant(listed))),
        isWithin(listed),
      ),
    ),
    byParticipant: countedList((listed) =>
      and(
        eq(withoutIndex(calls.organization_id), listed.organization_id),
        inArray(calls.id, ofParticipant(listed)),
        isWithin(listed),
      ),
    ),
  };
}

const ofOwner = (listed: Listed) => ownerWithinReach(listed);

/** The calls of the organization user whom a path names. */
export const callsOfOwner: CallLists = {
  byTime: {
    ...countedList((listed) => eq(calls.organization_user_id, ofOwner(listed))),
    total: totalOfDates(ofOwner),
  },
  ...byReferences((listed) => eq(withoutIndex(calls.organization_user_id), ofOwner(listed))),
};

const ofEverybody = () => sql`(${WHOLE_ORGANIZATION})`;

const byReferencesOfReached = byReferences((listed) =>
  or(listed.reaches_everybody, inArray(withoutIndex(calls.organization_user_id), reachedIds(listed))),
);

/** The calls of all whom somebody reaches who reaches everybody. */
export const callsOfEverybody: CallLists = {
  byTime: {
    ...countedList(({ organization_id }) => eq(calls.organization_id, organization_id)),
    total: totalOfDates(ofEverybody),
  },
  ...byReferencesOfReached,
};

const own = alias(calls, "own");

/** No index has the calls of some in the order of time. So of each it takes as many as the page could need. */
const pageOfReached = preparedQuery((listed: Placeholders<ListedCalls & Window>) => {
  const reached = reachedIds(listed).as("reached");
  const newest = selectColumn(
    own.id,
    eq(own.organization_user_id, reached.id),
    gte(own.started_at, listed.from),
    lt(own.started_at, listed.before),
  )
    .orderBy(desc(own.started_at), desc(own.id))
    .limit(listed.end);
  return builder
    .select(callColumns)
    .from(reached)
    .crossJoin(calls)
    .where(inArray(calls.id, newest))
    .orderBy(...newestFirst)
    .limit(listed.limit)
    .offset(listed.offset);
});

/** The calls of all whom somebody reaches who does not reach everybody. */
export const callsOfReached: CallLists = {
  byTime: { page: pageOfReached, total: totalOfDates(reachedIds) },
  ...byReferencesOfReached,
};

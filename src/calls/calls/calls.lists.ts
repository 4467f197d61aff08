import { and, desc, eq, exists, gte, inArray, ne, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import { columnAs, hasValues, iif, withoutIndex } from "../../database/expressions.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isAnyOr, lookThrough, mergedIds, selectColumn } from "../../database/selects.ts";
import type { Position } from "../../http/pagination.ts";
import { CALLS_LOOKED_THROUGH } from "../../limits.ts";
import { reachedIds } from "../../organization/members/members.sql.ts";
import { participants } from "../participants/participants.table.ts";
import type { Call } from "./calls.schemas.ts";
import { columnsWithResults, ownerWithinReach, type ReachedOwner } from "./calls.sql.ts";
import { calls } from "./calls.table.ts";

interface ListedCalls extends ReachedOwner {
  /** 0 for the calls of all users that the caller reaches. */
  owner_id: number;
  from: number;
  before_start: number;
  before_id: number;
  /** null matches any value, here and below. */
  external_reference: string | null;
  participant_digest: string | null;
  limit: number;
}

type Listed = Placeholders<ListedCalls>;

/**
 * The queries of a list of calls, newest first: a page, and the last call that a request looks through, if it has to stop there. Each
 * filter has queries of its own, so that an index yields the calls in order.
 */
export function listQueries(listed: ListedCalls): [BoundQuery<Call>, BoundQuery<Position>] {
  const { owner_id, reaches_everybody, external_reference, participant_digest } = listed;
  if (participant_digest !== null) return [byParticipant.page(listed), byParticipant.end(listed)];
  if (external_reference !== null) return [byReference.page(listed), byReference.end(listed)];
  const pageOfAll = reaches_everybody ? pageOfEverybody : pageOfReached;
  return [(owner_id > 0 ? pageOfOwner : pageOfAll)(listed), noEnd({})];
}

/** One bound at each end, so that SQLite begins with the first call shown. */
const isInListedPart = (started_at: SQLWrapper, id: SQLWrapper, { from, before_start, before_id }: Listed) =>
  and(sql`(${started_at}, ${id}) < (${before_start}, ${before_id})`, gte(started_at, from));

const newestFirst = [desc(calls.started_at), desc(calls.id)];

const pageWhere = (isWithin: (listed: Listed) => SQL) =>
  preparedQuery((listed: Listed) =>
    builder
      .select(columnsWithResults)
      .from(calls)
      .where(and(isWithin(listed), isInListedPart(calls.started_at, calls.id, listed)))
      .orderBy(...newestFirst)
      .limit(listed.limit),
  );

const pageOfOwner = pageWhere((listed) => eq(calls.organization_user_id, ownerWithinReach(listed)));

const pageOfEverybody = pageWhere(({ organization_id }) => eq(calls.organization_id, organization_id));

/** For lists that show every call that they look through: no call has the id 0. */
const noEnd = preparedQuery(() =>
  builder
    .select({ time: columnAs(calls.started_at, "time"), id: calls.id })
    .from(calls)
    .where(eq(calls.id, 0)),
);

const next = alias(calls, "next");

const byTime = ({ started_at, id }: typeof calls | typeof next) => ({ time: started_at, id });

/** Calls that the users in reach held, and as those of negative ids, calls of their visits that others held. */
const pageOfReached = preparedQuery((listed: Listed) => {
  const nextId = (owner_id: SQL, isBefore: SQL) => {
    const first = (...ofOwner: SQL[]) =>
      selectColumn(next.id, ...ofOwner, isBefore, gte(next.started_at, listed.from))
        .orderBy(desc(next.started_at), desc(next.id))
        .limit(1);
    return iif(
      sql`${owner_id} > 0`,
      first(eq(next.organization_user_id, owner_id)),
      // The index's WHERE, and then the visits' holders.
      first(ne(next.visit_holder_id, next.organization_user_id), sql`${next.visit_holder_id} = -${owner_id}`),
    );
  };
  const ids = mergedIds(
    { table: byTime(calls), next: byTime(next) },
    sql`(select id from ${reachedIds(listed)} union all select -id from ${reachedIds(listed)})`,
    { time: listed.before_start, id: listed.before_id },
    nextId,
    { order: "desc", limit: listed.limit, owners_of_row: 2 },
  );
  // Joined, because SQLite would merge all rows for an `in`, and not stop at the page.
  return builder
    .select(columnsWithResults)
    .from(sql`${ids} as page`)
    .crossJoin(calls)
    .where(eq(calls.id, sql`page.id`))
    .orderBy(...newestFirst);
});

const looked = alias(calls, "looked");

const taking = alias(participants, "taking");

/** Leaves out participants who were on a later call instead. */
const hasTakenPart = ({ organization_id, participant_digest: reference_digest }: Listed) =>
  exists(
    selectColumn(
      participants.id,
      hasValues(participants, {
        organization_id,
        reference_digest,
        call_started_at: calls.started_at,
        call_id: calls.id,
      }),
    ),
  );

/** Uses `withoutIndex`, so that SQLite searches by the reference. */
function isWithinReach(listed: Listed) {
  const { owner_id, reaches_everybody } = listed;
  const owner = withoutIndex(calls.organization_user_id);
  return and(
    or(sql`${owner_id} = 0`, eq(owner, owner_id)),
    or(
      sql`${reaches_everybody}`,
      inArray(owner, reachedIds(listed)),
      and(sql`${owner_id} = 0`, inArray(withoutIndex(calls.visit_holder_id), reachedIds(listed))),
    ),
  );
}

const lookThroughCalls = (
  [time, id]: [SQLiteColumn, SQLiteColumn],
  isWanted: (listed: Listed) => SQL | undefined,
  isShown: (listed: Listed) => SQL | undefined = () => undefined,
) => {
  const { entries, end } = lookThrough<ListedCalls>(
    { time, id, order: desc, most: CALLS_LOOKED_THROUGH },
    (listed) => and(isWanted(listed), isInListedPart(time, id, listed)),
  );
  const page = preparedQuery((listed: Listed) =>
    builder
      .select(columnsWithResults)
      .from(entries(listed))
      .crossJoin(calls)
      .where(and(eq(calls.id, sql`entry.id`), isWithinReach(listed), isShown(listed)))
      .limit(listed.limit),
  );
  return { page, end };
};

const byReference = lookThroughCalls(
  [looked.started_at, looked.id],
  ({ organization_id, external_reference }) => hasValues(looked, { organization_id, external_reference }),
);

const byParticipant = lookThroughCalls(
  [taking.call_started_at, taking.call_id],
  ({ organization_id, participant_digest: reference_digest }) =>
    hasValues(taking, { organization_id, reference_digest }),
  (listed) => and(isAnyOr(listed.external_reference, calls.external_reference), hasTakenPart(listed)),
);

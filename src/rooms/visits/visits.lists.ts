import { and, asc, eq, isNotNull, lt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import { entryOfOrganization, type FilterDates, idsIn } from "../../audit/access_logs/access_logs.entries.ts";
import type { ClientContext } from "../../context.ts";
import type { AccessResource, VisitStatus } from "../../database/enums.ts";
import { isSame, withoutIndex } from "../../database/expressions.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isAnyOr, lookThrough, mergedIds, selectColumn } from "../../database/selects.ts";
import { endOfDate } from "../../http/dates.ts";
import type { Position } from "../../http/pagination.ts";
import { VISITS_LOOKED_THROUGH } from "../../limits.ts";
import { type Reach, reachedIds, reachOf, withinReach } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { people } from "../people/people.table.ts";
import type { ListedVisit, VisitsQuery } from "./visits.schemas.ts";
import { listedVisitColumns, visitsWithinReach } from "./visits.sql.ts";
import { visits } from "./visits.table.ts";

interface ListedVisits extends Reach, FilterDates {
  before: number;
  after_start: number;
  after_id: number;
  /** null matches any value, here and below. */
  status: VisitStatus | null;
  external_reference: string | null;
  reference_digest: string | null;
  holder_id: number | null;
  limit: number;
}

type Listed = Placeholders<ListedVisits>;

const next = alias(visits, "next");

const isAfterPosition = ({ after_start, after_id }: Listed, starts_at: SQLiteColumn, id: SQLiteColumn) =>
  sql`(${starts_at}, ${id}) > (${after_start}, ${after_id})`;

/** One bound at each end, so that an index yields the visits in order, from the first one shown. */
const isInPart = (listed: Listed, isBeyond = isAfterPosition(listed, next.starts_at, next.id)) =>
  and(eq(next.organization_id, listed.organization_id), isBeyond, lt(next.starts_at, listed.before));

/** A page, and the entry that records it. Reads the visits only after their ids, which an index yields in order. */
const pageOf = (ids: (listed: Listed) => SQLWrapper, resource: AccessResource = "visit") => ({
  page: preparedQuery((listed: Listed) =>
    builder
      .select(listedVisitColumns)
      .from(visits)
      .where(sql`${visits.id} in ${ids(listed)}`)
      .orderBy(asc(visits.starts_at), asc(visits.id)),
  ),
  entry: entryOfOrganization(resource, (listed: Listed) => ({
    reference_digest: listed.reference_digest,
    shown: idsIn(ids(listed)),
    from_date: listed.from_date,
    to_date: listed.to_date,
  })),
});

/** A status needs its own query, so that SQLite uses the index for it. */
const nextVisits = (listed: Listed, hasStatus: boolean, ofHolder?: SQL, isBeyond?: SQL) =>
  builder
    .select({ id: next.id })
    .from(next)
    .where(and(isInPart(listed, isBeyond), ofHolder, hasStatus ? eq(next.status, listed.status) : undefined))
    .orderBy(asc(next.starts_at), asc(next.id));

const nextIds = (listed: Listed, hasStatus: boolean, ofHolder?: SQL) =>
  nextVisits(listed, hasStatus, ofHolder).limit(listed.limit);

const visitsByTime = ({ starts_at, id }: typeof visits | typeof next) => ({ time: starts_at, id });

const withAndWithoutStatus = (ids: (listed: Listed, hasStatus: boolean) => SQLWrapper) =>
  [false, true].map((hasStatus) => pageOf((listed) => ids(listed, hasStatus)));

const pages = {
  ofAll: withAndWithoutStatus(nextIds),
  /** The visits whose holder the caller reaches, and the visits without a holder. */
  ofReached: withAndWithoutStatus((listed, hasStatus) =>
    mergedIds(
      { table: visitsByTime(visits), next: visitsByTime(next) },
      sql`(select id from ${reachedIds(listed)} union all select null)`,
      { time: listed.after_start, id: listed.after_id },
      (holder_id, isBeyond) =>
        nextVisits(listed, hasStatus, isSame(next.organization_user_id, holder_id), isBeyond).limit(1),
      { order: "asc", limit: listed.limit },
    ),
  ),
  ofHolder: withAndWithoutStatus((listed, hasStatus) => {
    const holder = selectColumn(
      organizationUsers.id,
      eq(organizationUsers.id, listed.holder_id),
      withinReach(listed),
    );
    return nextIds(listed, hasStatus, eq(next.organization_user_id, holder));
  }),
};

const planned = alias(people, "planned");

const lookThroughVisits = (
  [time, id]: [SQLiteColumn, SQLiteColumn],
  isWanted: (listed: Listed) => SQL | undefined,
  resource: AccessResource,
) => {
  const { entries, end } = lookThrough<ListedVisits>(
    { time, id, order: asc, most: VISITS_LOOKED_THROUGH },
    isWanted,
  );
  const ids = (listed: Listed) =>
    builder
      .select({ id: visits.id })
      .from(entries(listed))
      .crossJoin(visits)
      .where(
        and(
          eq(visits.id, sql`entry.id`),
          isAnyOr(listed.external_reference, visits.external_reference),
          isAnyOr(listed.status, visits.status),
          isAnyOr(listed.holder_id, visits.organization_user_id),
          visitsWithinReach(listed),
        ),
      )
      .limit(listed.limit);
  return { ...pageOf(ids, resource), end };
};

const ofReference = lookThroughVisits(
  [next.starts_at, next.id],
  (listed) => and(isInPart(listed), eq(next.external_reference, listed.external_reference)),
  "visit",
);

/** The visits that name a person with the reference. */
const ofPerson = lookThroughVisits(
  [planned.visit_starts_at, planned.visit_id],
  (listed) =>
    and(
      eq(planned.organization_id, listed.organization_id),
      eq(planned.reference_digest, listed.reference_digest),
      isAfterPosition(listed, planned.visit_starts_at, planned.visit_id),
      lt(planned.visit_starts_at, listed.before),
      isNotNull(withoutIndex(planned.number)),
    ),
  "participant",
);

/**
 * The queries for the visits that a request asks for and its caller reaches: a page by start, with one extra visit if there are
 * more, the position at which the request stops looking, and the entry, which names the visits of the page without the extra one.
 */
export function listedVisits(
  context: ClientContext,
  query: VisitsQuery,
  reference_digest: string | null,
): [page: BoundQuery<ListedVisit>, end: BoundQuery<Position>, entry: BoundQuery<{ id: number }>] {
  const { from, to, after, status = null, external_reference = null, per_page } = query;
  const since = from === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(from);
  const start = after === undefined || after.time < since ? { time: since, id: 0 } : after;
  const listed = {
    ...reachOf(context.caller),
    from_date: from ?? null,
    to_date: to ?? null,
    before: to === undefined ? Number.MAX_SAFE_INTEGER : endOfDate(to),
    after_start: start.time,
    after_id: start.id,
    status,
    external_reference,
    reference_digest,
    holder_id: query.organization_user_id ?? null,
    limit: per_page + 1,
  };
  const { page, entry } = pageFor(listed);
  const { end } = reference_digest === null ? ofReference : ofPerson;
  const event = reference_digest === null ? "read" : "search";
  return [page(listed), end(listed), entry(context, event, { ...listed, limit: per_page })];
}

function pageFor(listed: ListedVisits) {
  if (listed.reference_digest !== null) return ofPerson;
  if (listed.external_reference !== null) return ofReference;
  const ofEverybody = listed.reaches_everybody ? pages.ofAll : pages.ofReached;
  const page = listed.holder_id === null ? ofEverybody : pages.ofHolder;
  return page[listed.status === null ? 0 : 1] as (typeof page)[number];
}

import { and, asc, eq, isNull, lt, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { VisitStatus } from "../../database/enums.ts";
import { isSame, withoutIndex } from "../../database/expressions.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizationUsers, visits } from "../../database/schema.ts";
import { endOfDate } from "../../http/dates.ts";
import { type Position, writePosition } from "../../http/pagination.ts";
import { type Reach, reachedIds, withinReach } from "../organization_users/organization_users.sql.ts";
import type { Visit, VisitsQuery } from "./visits.schemas.ts";
import { visitColumns, visitsWithinReach } from "./visits.sql.ts";

/** Which visits a list shows, as values of a query. */
interface ListedVisits extends Reach {
  /** Those that start before this time. */
  before: number;
  /** And those after this one, by start and id. */
  after_start: number;
  after_id: number;
  /** null for any; so is the rest. */
  status: VisitStatus | null;
  external_reference: string | null;
  holder_id: number | null;
  limit: number;
}

type Listed = Placeholders<ListedVisits>;

const next = alias(visits, "next");
const each = alias(visits, "each");

/** One bound at each end, so that an index has them in their order from the first that is shown. */
const isInPart = (of: typeof visits | typeof next, listed: Listed) =>
  and(
    eq(of.organization_id, listed.organization_id),
    sql`(${of.starts_at}, ${of.id}) > (${listed.after_start}, ${listed.after_id})`,
    lt(of.starts_at, listed.before),
  );

/** Reads the visits only when their ids are known: these are in an index, from which they come in their order. */
const pageOf = (ids: (listed: Listed) => SQLWrapper) =>
  preparedQuery((listed: Listed) =>
    builder
      .select(visitColumns)
      .from(visits)
      .where(sql`${visits.id} in ${ids(listed)}`)
      .orderBy(asc(visits.starts_at), asc(visits.id)),
  );

/** With a status another query than without, so that the index for it leads to what it shows. */
const nextIds = (listed: Listed, hasStatus: boolean, ofHolder?: SQL) =>
  builder
    .select({ id: next.id })
    .from(next)
    .where(and(isInPart(next, listed), ofHolder, hasStatus ? eq(next.status, listed.status) : undefined))
    .orderBy(asc(next.starts_at), asc(next.id))
    .limit(listed.limit);

/**
 * Of some holders. No index has the visits of several in the order of time: so of each it takes as many as a page could need.
 *
 * @param holders selects the ids, and null for visits without a holder
 */
const idsOfHolders = (holders: SQL, listed: Listed, hasStatus: boolean) =>
  builder
    .select({ id: each.id })
    .from(sql`(${holders}) as holder`)
    .crossJoin(each)
    .where(
      sql`${each.id} in ${nextIds(listed, hasStatus, isSame(next.organization_user_id, sql`holder.id`))}`,
    )
    .orderBy(asc(each.starts_at), asc(each.id))
    .limit(listed.limit);

/** Without and with a status. */
const withAndWithoutStatus = (ids: (listed: Listed, hasStatus: boolean) => SQLWrapper) =>
  [false, true].map((hasStatus) => pageOf((listed) => ids(listed, hasStatus)));

const pages = {
  /** Where somebody reaches everybody. */
  ofAll: withAndWithoutStatus(nextIds),
  ofReached: withAndWithoutStatus((listed, hasStatus) =>
    idsOfHolders(sql`select id from ${reachedIds(listed)} union all select null`, listed, hasStatus),
  ),
  /** The holder that is asked for, where the caller reaches them. */
  ofHolder: withAndWithoutStatus((listed, hasStatus) => {
    const { id } = organizationUsers;
    const holder = builder.select({ id }).from(organizationUsers);
    return idsOfHolders(
      sql`${holder.where(and(eq(id, listed.holder_id), withinReach(listed)))}`,
      listed,
      hasStatus,
    );
  }),
};

/** There are few of a reference. */
const pageOfReference = pageOf((listed) =>
  builder
    .select({ id: visits.id })
    .from(visits)
    .where(
      and(
        isInPart(visits, listed),
        eq(visits.external_reference, listed.external_reference),
        or(isNull(listed.status), eq(withoutIndex(visits.status), listed.status)),
        or(isNull(listed.holder_id), eq(withoutIndex(visits.organization_user_id), listed.holder_id)),
        visitsWithinReach(listed),
      ),
    )
    .orderBy(asc(visits.starts_at), asc(visits.id))
    .limit(listed.limit),
);

/** The visits that a query asks for and a caller reaches, by their start: one more than a page shows, if there are more. */
export function listedVisits(reach: Reach, query: VisitsQuery): BoundQuery<Visit> {
  const { from, to, after, status = null, external_reference = null, per_page } = query;
  const holder_id = query.organization_user_id ?? null;
  const [after_start, after_id] = positionOf(after, from);
  const listed = {
    ...reach,
    before: to === undefined ? Number.MAX_SAFE_INTEGER : endOfDate(to),
    after_start,
    after_id,
    status,
    external_reference,
    holder_id,
    limit: per_page + 1,
  };
  if (external_reference !== null) return pageOfReference(listed);
  const ofEverybody = reach.reaches_everybody ? pages.ofAll : pages.ofReached;
  const page = holder_id === null ? ofEverybody : pages.ofHolder;
  return (page[status === null ? 0 : 1] as (typeof page)[number])(listed);
}

function positionOf(after: Position | undefined, from: string | undefined): [start: number, id: number] {
  const since = from === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(from);
  return after === undefined || after.time < since ? [since, 0] : [after.time, after.id];
}

/** Where the next page begins. */
export const positionAfter = ({ starts_at, id }: Pick<Visit, "starts_at" | "id">): string =>
  writePosition({ time: starts_at, id });

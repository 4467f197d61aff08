import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  or,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  Subquery,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { participants } from "../../calls/participants/participants.table.ts";
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { coalesce, greatest, iif, least } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { people } from "../../rooms/people/people.table.ts";
import { DAY } from "../../units.ts";
import { accessLogSeals } from "../access_log_seals/access_log_seals.table.ts";
import { entryOfOrganization } from "./access_logs.entries.ts";
import type { AccessLog } from "./access_logs.schemas.ts";
import { accessLogColumns, peopleOfReference } from "./access_logs.sql.ts";
import { accessLogs } from "./access_logs.table.ts";

/*
 * Lists of the access log, oldest first. An index finds the entries that a request looks through, up to a maximum, and the other
 * filters are applied to those.
 */

/** The filters of a list as query values; null for any. */
export interface ListedEntries {
  organization_id: number;
  after: number;
  call_id: number | null;
  acting_user: string | null;
  reference_digest: string | null;
  user_id: number | null;
  resource: AccessResource | null;
  event: AccessEvent | null;
  /** Dates (`YYYY-MM-DD`), both inclusive. */
  first_date: string | null;
  last_date: string | null;
}

interface LookThrough extends ListedEntries {
  looked_through: number;
  /** Only entries up to this id. */
  through: number;
}

type Listed = Placeholders<LookThrough>;

const lastSealed = ({ organization_id }: Listed, condition: SQL, order: SQL) =>
  selectColumn(accessLogSeals.last_id, eq(accessLogSeals.organization_id, organization_id), condition)
    .orderBy(order)
    .limit(1);

/** The id after which to look: entries up to it are in seals of days before `from`. */
const start = (listed: Listed): SQL =>
  greatest(
    listed.after,
    coalesce(lastSealed(listed, lt(accessLogSeals.date, listed.first_date), desc(accessLogSeals.last_id)), 0),
  );

/**
 * The id up to which to look. An entry that arrives after its day was sealed is in the next seal: to miss that seal
 * too, it would have to be more than a day late, and no request or chore takes that long.
 */
const end = (listed: Listed): SQL =>
  least(
    listed.through,
    coalesce(
      lastSealed(listed, gt(accessLogSeals.date, listed.last_date), asc(accessLogSeals.last_id)),
      Number.MAX_SAFE_INTEGER,
    ),
  );

const isAny = (wanted: Placeholder, column: SQLiteColumn) => or(isNull(wanted), eq(column, wanted));

const showsOneOf = (ids: SQLWrapper) =>
  sql`exists (select 1 from json_each(${accessLogs.shown}) where value in ${ids})`;

/**
 * True for an entry about a visit, a participation or a call of the person, a list that shows them, or a search for them. SQLite reads
 * each of these queries once for a request, at the first entry that needs it.
 */
function isAboutReference(listed: Listed) {
  const people_ids = peopleOfReference(listed);
  const isOfPerson = inArray(participants.person_id, people_ids);
  const visits = selectColumn(people.visit_id, inArray(people.id, people_ids));
  const ids = selectColumn(participants.id, isOfPerson);
  const { event, resource, resource_id, call_id, reference_digest } = accessLogs;
  return or(
    eq(reference_digest, listed.reference_digest),
    inArray(call_id, selectColumn(participants.call_id, isOfPerson)),
    and(eq(resource, "visit"), inArray(resource_id, visits)),
    and(eq(resource, "participant"), inArray(resource_id, ids)),
    // A search shows visits.
    iif(sql`${resource} = 'visit' or ${event} = 'search'`, showsOneOf(visits), showsOneOf(ids)),
  );
}

const startOf = (date: Placeholder) => sql`unixepoch(${date}) * 1000`;

const isListed = (listed: Listed) =>
  and(
    isAny(listed.acting_user, accessLogs.acting_user),
    or(isNull(listed.reference_digest), isAboutReference(listed)),
    isAny(listed.user_id, accessLogs.user_id),
    isAny(listed.resource, accessLogs.resource),
    isAny(listed.event, accessLogs.event),
    or(isNull(listed.first_date), gte(accessLogs.at, startOf(listed.first_date))),
    or(
      isNull(listed.last_date),
      lt(accessLogs.at, sql`${startOf(listed.last_date)} + ${sql.raw(String(DAY))}`),
    ),
  );

/** The page has no ORDER BY, so that SQLite takes the entries one by one from the subquery and stops once it has enough. */
function entryListWhere(condition: (listed: Listed) => SQL | undefined) {
  const lookThrough = (listed: Listed) => {
    const { id, organization_id } = accessLogs;
    const isOwn = eq(organization_id, listed.organization_id);
    const entries = builder
      .select()
      .from(accessLogs)
      .where(and(isOwn, condition(listed), gt(id, start(listed)), lte(id, end(listed))))
      .orderBy(asc(id))
      .limit(listed.looked_through);
    // The subquery has the name of the table, so that the table's columns refer to it.
    return new Subquery(entries.getSQL(), getTableColumns(accessLogs), getTableName(accessLogs));
  };
  return {
    page: preparedQuery((listed: Placeholders<LookThrough & { limit: number }>) =>
      builder.select(accessLogColumns).from(lookThrough(listed)).where(isListed(listed)).limit(listed.limit),
    ) as PreparedQuery<LookThrough & { limit: number }, AccessLog>,
    /** The last of the entries that the request looks through; empty if there are fewer than `looked_through`. */
    end: preparedQuery((listed: Placeholders<LookThrough & { skipped: number }>) =>
      builder
        .select({ id: accessLogs.id })
        .from(lookThrough(listed))
        .orderBy(asc(accessLogs.id))
        .limit(1)
        .offset(listed.skipped),
    ),
  };
}

export const allEntries = entryListWhere(() => undefined);

/** A hint for SQLite that few entries match. Without it, SQLite scans all entries of the organization between the two ids. */
const isRare = (condition: SQL) => sql`likelihood(${condition}, 0.0001)`;

export const entriesOfActingUser = entryListWhere((listed) =>
  isRare(eq(accessLogs.acting_user, listed.acting_user)),
);

export const entriesOfCall = entryListWhere((listed) => isRare(eq(accessLogs.call_id, listed.call_id)));

export const listOfEntriesEntry = entryOfOrganization("access_log");

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
  /** Only entries with a higher id. */
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

export interface EntryList {
  page: PreparedQuery<LookThrough & { limit: number }, AccessLog>;
  /** The last of the entries that the request looks through; empty if there are fewer than `looked_through`. */
  end: PreparedQuery<LookThrough & { skipped: number }, { id: number }>;
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

/**
 * The visits that name or named the person with the reference, and a column of their participations. SQLite reads each of these
 * queries once for a request, at the first entry that needs it.
 */
function ofPerson(listed: Listed) {
  const ids = peopleOfReference(listed);
  return {
    visits: selectColumn(people.visit_id, inArray(people.id, ids)),
    participations: (column: typeof participants.id | typeof participants.call_id) =>
      selectColumn(column, inArray(participants.person_id, ids)),
  };
}

const showsOneOf = (ids: SQLWrapper) =>
  sql`exists (select 1 from json_each(${accessLogs.shown}) where value in ${ids})`;

/** True for an entry about a visit, a participation or a call of the person, a list that shows them, or a search for them. */
function isAboutReference(listed: Listed) {
  const { visits, participations } = ofPerson(listed);
  const { event, resource, resource_id, call_id, reference_digest } = accessLogs;
  const ids = participations(participants.id);
  return or(
    eq(reference_digest, listed.reference_digest),
    inArray(call_id, participations(participants.call_id)),
    and(eq(resource, "visit"), inArray(resource_id, visits)),
    and(eq(resource, "participant"), inArray(resource_id, ids)),
    // A search shows visits.
    iif(sql`${resource} = 'visit' or ${event} = 'search'`, showsOneOf(visits), showsOneOf(ids)),
  );
}

/** The start of a date, in milliseconds since the epoch. */
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

/**
 * A list of the entries that a subquery looks through, in its order. The page has no ORDER BY, so that SQLite takes the
 * entries one by one from the subquery and stops once it has enough.
 */
function listOf(lookThrough: (listed: Listed) => SQLWrapper): EntryList {
  // The subquery has the name of the table, so that the table's columns refer to it.
  const from = (listed: Listed) =>
    new Subquery(lookThrough(listed).getSQL(), getTableColumns(accessLogs), getTableName(accessLogs));
  return {
    page: preparedQuery((listed: Placeholders<LookThrough & { limit: number }>) =>
      builder.select(accessLogColumns).from(from(listed)).where(isListed(listed)).limit(listed.limit),
    ),
    end: preparedQuery((listed: Placeholders<LookThrough & { skipped: number }>) =>
      builder
        .select({ id: accessLogs.id })
        .from(from(listed))
        .orderBy(asc(accessLogs.id))
        .limit(1)
        .offset(listed.skipped),
    ),
  };
}

const entryListWhere = (condition: (listed: Listed) => SQL | undefined) =>
  listOf((listed) =>
    builder
      .select()
      .from(accessLogs)
      .where(
        and(
          eq(accessLogs.organization_id, listed.organization_id),
          condition(listed),
          gt(accessLogs.id, start(listed)),
          lte(accessLogs.id, end(listed)),
        ),
      )
      .orderBy(asc(accessLogs.id))
      .limit(listed.looked_through),
  );

export const allEntries = entryListWhere(() => undefined);

/** A hint for SQLite that few entries match. Without it, SQLite scans all entries of the organization between the two ids. */
const isRare = (condition: SQL) => sql`likelihood(${condition}, 0.0001)`;

export const entriesOfActingUser = entryListWhere((listed) =>
  isRare(eq(accessLogs.acting_user, listed.acting_user)),
);

export const entriesOfCall = entryListWhere((listed) => isRare(eq(accessLogs.call_id, listed.call_id)));

/** The entry about reading the access log itself. */
export const listOfEntriesEntry = entryOfOrganization("access_log");

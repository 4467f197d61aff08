import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  getTableName,
  gt,
  gte,
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
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { coalesce, greatest, hasValues, least, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { people } from "../../rooms/people/people.table.ts";
import { accessLogSeals } from "../access_log_seals/access_log_seals.table.ts";
import { entryOfOrganization } from "./access_logs.entries.ts";
import { hadReference, hasHadReference } from "./access_logs.references.ts";
import type { AccessLog } from "./access_logs.schemas.ts";
import { accessLogColumns } from "./access_logs.sql.ts";
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
  external_reference: string | null;
  reference_digest: string | null;
  user_id: number | null;
  resource: AccessResource | null;
  event: AccessEvent | null;
  /**
   * Dates (`YYYY-MM-DD`), both inclusive. `from` (inclusive) and `before` (exclusive) are the same range in
   * milliseconds since the epoch.
   */
  first_date: string | null;
  last_date: string | null;
  from: number | null;
  before: number | null;
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

/*
 * An entry is about a person if they have or had the reference, whether the entry names their call, their visit, or only their
 * participation. Each entry is checked by itself, so that the cost does not depend on how many calls and visits the person has.
 */

function isOfCall(listed: Listed) {
  const { organization_id, reference_digest } = listed;
  const { call_id } = accessLogs;
  // Knowing the start of the call, SQLite finds the participant by an index, however many calls have the reference.
  const call_started_at = scalar(selectColumn(calls.started_at, eq(calls.id, call_id)));
  const has = hasValues(participants, { organization_id, reference_digest, call_started_at, call_id });
  const had = and(eq(participants.call_id, call_id), hadReference(participants.person_id, listed));
  return or(...[has, had].map((condition) => exists(selectColumn(participants.id, condition))));
}

const isOfPerson = (
  resource: AccessResource,
  row: typeof participants | typeof people,
  id: SQLiteColumn,
  person_id: SQLiteColumn,
  listed: Listed,
) =>
  and(
    eq(accessLogs.resource, resource),
    exists(selectColumn(row.id, eq(id, accessLogs.resource_id), hasHadReference(person_id, listed))),
  );

const isAboutReference = (listed: Listed) =>
  or(
    isOfCall(listed),
    isOfPerson("visit", people, people.visit_id, people.id, listed),
    isOfPerson("participant", participants, participants.id, participants.person_id, listed),
    eq(accessLogs.reference_digest, listed.reference_digest),
  );

const isShown = (listed: Listed) =>
  and(
    isAny(listed.acting_user, accessLogs.acting_user),
    or(isNull(listed.external_reference), isAboutReference(listed)),
    isAny(listed.user_id, accessLogs.user_id),
    isAny(listed.resource, accessLogs.resource),
    isAny(listed.event, accessLogs.event),
    gte(accessLogs.at, coalesce(listed.from, 0)),
    or(isNull(listed.before), lt(accessLogs.at, listed.before)),
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
      builder.select(accessLogColumns).from(from(listed)).where(isShown(listed)).limit(listed.limit),
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

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
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { coalesce, greatest, hasValues, least, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { accessLogSeals, accessLogs, calls, participants, visitReferences } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { entryOfOrganization } from "./access_logs.entries.ts";
import type { AccessLog } from "./access_logs.schemas.ts";
import { accessLogColumns } from "./access_logs.sql.ts";

/*
 * Lists of the access log, oldest first. An index leads to the entries that a request looks through, so many at most, and the
 * other filters are applied to those.
 */

/** Which entries a list shows, as values of a query: null for any. */
export interface ListedEntries {
  organization_id: number;
  /** Only those with a higher id. */
  after: number;
  call_id: number | null;
  acting_user: string | null;
  external_reference: string | null;
  /** Of the same. */
  reference_digest: string | null;
  user_id: number | null;
  resource: AccessResource | null;
  event: AccessEvent | null;
  /** Dates, `YYYY-MM-DD`, both included, and the same in milliseconds since the epoch: from the first on, before the second. */
  first_date: string | null;
  last_date: string | null;
  from: number | null;
  before: number | null;
}

/** `end` is for a request that looks through that many: it shows the last of them, if there are so many. */
interface LookThrough extends ListedEntries {
  looked_through: number;
  /** Only those up to this id. */
  through: number;
}

export interface EntryList {
  page: PreparedQuery<LookThrough & { limit: number }, AccessLog>;
  end: PreparedQuery<LookThrough & { skipped: number }, { id: number }>;
}

type Listed = Placeholders<LookThrough>;

const lastSealed = ({ organization_id }: Listed, condition: SQL, order: SQL) =>
  selectColumn(accessLogSeals.last_id, eq(accessLogSeals.organization_id, organization_id), condition)
    .orderBy(order)
    .limit(1);

/** The entries after this id are looked through: what was sealed for a day before `from` is older. */
const start = (listed: Listed): SQL =>
  greatest(
    listed.after,
    coalesce(lastSealed(listed, lt(accessLogSeals.date, listed.first_date), desc(accessLogSeals.last_id)), 0),
  );

/**
 * And up to this id. An entry that comes after its day was sealed is in a later seal. One that is not even in the next would
 * be more than a day late, and no request or chore takes so long.
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

/** True for an entry about a call in which somebody took part who has the reference, or had it until it was erased. */
function isOfCall({ organization_id, external_reference, reference_digest }: Listed) {
  const { call_id } = accessLogs;
  // With the start of the call, an index leads to the participant, however many calls have the reference.
  const call_started_at = scalar(selectColumn(calls.started_at, eq(calls.id, call_id)));
  const participantWith = (condition: SQL | undefined) => exists(selectColumn(participants.id, condition));
  return or(
    participantWith(
      hasValues(participants, { organization_id, external_reference, call_started_at, call_id }),
    ),
    participantWith(hasValues(participants, { organization_id, reference_digest, call_id })),
  );
}

/** Looked up for each entry, so that it does not matter how many visits name somebody. */
const isOfVisit = ({ organization_id, reference_digest }: Listed) =>
  and(
    eq(accessLogs.resource, "visit"),
    exists(
      selectColumn(
        visitReferences.visit_id,
        hasValues(visitReferences, { organization_id, reference_digest }),
        eq(visitReferences.visit_id, accessLogs.resource_id),
      ),
    ),
  );

/** True for entries about those calls, about visits that name the person, and about searches for the reference. */
const isAboutReference = (listed: Listed) =>
  or(isOfVisit(listed), isOfCall(listed), eq(accessLogs.reference_digest, listed.reference_digest));

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
 * A list of the entries that a subquery looks through, in their order. The page has no ORDER BY, so that SQLite takes one
 * after the other from the subquery, and stops when it has as many as wanted.
 */
function listOf(lookThrough: (listed: Listed) => SQLWrapper): EntryList {
  // By the name of the table, so that its columns are those of the subquery.
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

/** Tells SQLite that few entries are so: between two ids it would go through all entries of the organization. */
const isRare = (condition: SQL) => sql`likelihood(${condition}, 0.0001)`;

export const entriesOfActingUser = entryListWhere((listed) =>
  isRare(eq(accessLogs.acting_user, listed.acting_user)),
);

/** Of a call, whatever else is asked for. */
export const entriesOfCall = entryListWhere((listed) => isRare(eq(accessLogs.call_id, listed.call_id)));

/** The entry of a list. */
export const listOfEntriesEntry = entryOfOrganization("access_log");

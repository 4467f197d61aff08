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
  isNotNull,
  isNull,
  lt,
  lte,
  not,
  or,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  Subquery,
  sql,
} from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { coalesce, greatest, hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { accessLogSeals, accessLogs, organizations, participants } from "../../database/schema.ts";
import { MAX_CALLS_OF_REFERENCE } from "../../limits.ts";
import { accessEntries } from "./access_logs.entries.ts";
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
}

export interface EntryList {
  page: PreparedQuery<LookThrough & { limit: number }, AccessLog>;
  end: PreparedQuery<LookThrough & { skipped: number }, { id: number }>;
}

type Listed = Placeholders<LookThrough>;

const lastSealed = ({ organization_id }: Listed, condition: SQL, order: SQL) =>
  builder
    .select({ last_id: accessLogSeals.last_id })
    .from(accessLogSeals)
    .where(and(eq(accessLogSeals.organization_id, organization_id), condition))
    .orderBy(order)
    .limit(1);

/** The entries after this id are looked through: what was sealed for a day before `from` is older. */
const start = (listed: Listed): SQL =>
  greatest(
    listed.after,
    coalesce(lastSealed(listed, lt(accessLogSeals.date, listed.first_date), desc(accessLogSeals.date)), 0),
  );

/**
 * And up to this id. An entry that comes after its day was sealed is in a later seal. One that is not even in the next would
 * be more than a day late, and no request or chore takes so long.
 */
const end = (listed: Listed): SQL =>
  coalesce(
    lastSealed(listed, gt(accessLogSeals.date, listed.last_date), asc(accessLogSeals.date)),
    Number.MAX_SAFE_INTEGER,
  );

const isAny = (wanted: Placeholder, column: SQLiteColumn) => or(isNull(wanted), eq(column, wanted));

const isShown = (listed: Listed) =>
  and(
    isAny(listed.acting_user, accessLogs.acting_user),
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

/** The calls in which a participant with the reference took part. */
const callsOfReference = (
  { organization_id, external_reference }: Pick<Listed, "organization_id" | "external_reference">,
  condition?: SQL,
) =>
  builder
    .selectDistinct({ call_id: participants.call_id })
    .from(participants)
    .where(
      and(
        hasValues(participants, { organization_id, external_reference }),
        isNotNull(participants.call_id),
        condition,
      ),
    );

export const entriesOfCall = entryListWhere((listed) => {
  const isItsCall = exists(callsOfReference(listed, eq(participants.call_id, listed.call_id)));
  return and(
    isRare(eq(accessLogs.call_id, listed.call_id)),
    or(isNull(listed.external_reference), isItsCall),
  );
});

const [looked, entry, following] = [
  alias(accessLogs, "looked"),
  alias(accessLogs, "entry"),
  alias(accessLogs, "following"),
] as const;

const columnNames = sql.join(
  Object.values(getTableColumns(accessLogs)).map(({ name }) => sql.identifier(name)),
  sql`, `,
);

const columnsOfEntry = sql.join(Object.values(getTableColumns(entry)), sql`, `);

/**
 * The entries of several calls in one order. `looked` is a queue that holds the next entry of each call, the oldest first; the
 * one that is taken from it is followed by the next of its call. So it reads no more than it is asked for.
 */
export const entriesOfReference = listOf((listed) => {
  const next = (call_id: SQLWrapper, after: SQLWrapper) =>
    builder
      .select({ id: following.id })
      .from(following)
      .where(
        and(
          hasValues(following, { organization_id: listed.organization_id, call_id }),
          gt(following.id, after),
          lte(following.id, end(listed)),
        ),
      )
      .orderBy(asc(following.id))
      .limit(1);
  const firstOfEach = next(sql`visited.call_id`, start(listed));
  const nextOfSame = next(looked.call_id, looked.id);
  return sql`with recursive ${sql.identifier("looked")} (${columnNames}) as (
    select ${columnsOfEntry} from ${callsOfReference(listed).limit(MAX_CALLS_OF_REFERENCE + 1)} as visited
      cross join ${accessLogs} as ${sql.identifier("entry")} on ${entry.id} = ${firstOfEach}
    union all
    select ${columnsOfEntry} from ${sql.identifier("looked")}
      cross join ${accessLogs} as ${sql.identifier("entry")} on ${entry.id} = ${nextOfSame}
    order by 1 limit ${listed.looked_through}
  ) select * from ${sql.identifier("looked")}`;
});

/** Each of the calls may have to be looked at for one entry. */
function hasTooManyCalls(listed: Pick<Listed, "organization_id" | "external_reference">): SQL {
  const some = callsOfReference(listed).limit(MAX_CALLS_OF_REFERENCE + 1);
  return gt(builder.$count(some), MAX_CALLS_OF_REFERENCE);
}

/** The entry of a list. It is not written where the reference leads to too many calls. */
export const listOfEntriesEntry = accessEntries(
  "access_log",
  (listed: Placeholders<{ organization_id: number; external_reference: string | null }>) => ({
    organization_id: organizations.id,
    from: organizations,
    where: and(eq(organizations.id, listed.organization_id), not(hasTooManyCalls(listed))),
  }),
);

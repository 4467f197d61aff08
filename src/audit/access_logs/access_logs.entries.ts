import { eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context, Requester } from "../../context.ts";
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, type Source } from "../../database/insert.ts";
import { type BoundQuery, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { isNewest } from "../../database/selects.ts";
import type { OwnPath } from "../../http/wire.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { accessLogs } from "./access_logs.table.ts";

/*
 * Statements that write entries of the access log. Each is in the batch of the read or change that it records: without its entry,
 * nothing is shown, and without its change, there is no entry.
 */

/** The subject of an entry: see `accessLogs` in access_logs.table.ts. */
interface Subject<Id = number> {
  organization_id: Id;
  /** Undefined for a list. */
  resource_id?: Id | Value<number | null>;
  call_id?: Id | Value<number | null>;
  /** The member who held the call, or the member concerned. */
  organization_user_id?: Id | Value<number | null>;
  reference_digest?: Value<string | null>;
  shown?: SQL | null;
  from_date?: Value<string | null>;
  to_date?: Value<string | null>;
}

/** The ids that a query selects as `id`, in its order, for `shown`. */
export const idsIn = (page: SQLWrapper): SQL => sql`(select json_group_array(id) from ${page})`;

const NOTHING_ELSE = {
  resource_id: null,
  call_id: null,
  organization_user_id: null,
  reference_digest: null,
  shown: null,
  from_date: null,
  to_date: null,
};

/** The requester as query values. The prefix keeps their names apart from the query's other values. */
type Entered = { [Name in keyof Requester as `by_${Name}`]: Requester[Name] } & {
  entered_at: number;
  access_event: AccessEvent;
};

/**
 * Prepares the statement that writes an entry for each row that a condition selects.
 *
 * @param resource a column if the rows differ in it
 */
export function accessEntries<Values extends object>(
  resource: AccessResource | SQLiteColumn,
  subjectsOf: (values: Placeholders<Values>) => Subject<Value<number>> & Source,
): (context: Context, event: AccessEvent, values: Values) => BoundQuery<{ id: number }> {
  const insertEntries = preparedQuery((values: Placeholders<Values & Entered>) => {
    const { from, where, ...subject } = subjectsOf(values as unknown as Placeholders<Values>);
    const entered = values as unknown as Placeholders<Entered>;
    return insertSelect(
      accessLogs,
      {
        ...NOTHING_ELSE,
        ...subject,
        at: entered.entered_at,
        event: entered.access_event,
        resource,
        user_id: entered.by_user_id,
        api_client_id: entered.by_api_client_id,
        acting_user: entered.by_acting_user,
        purpose: entered.by_purpose,
        quota: entered.by_quota,
        request_id: sql`unhex(${entered.by_request_id}, '-')`,
      },
      { from, where },
    ).returning({ id: accessLogs.id });
  });
  return ({ requester, now }, event, values) =>
    insertEntries({
      ...values,
      by_user_id: requester.user_id,
      by_api_client_id: requester.api_client_id,
      by_acting_user: requester.acting_user,
      by_purpose: requester.purpose,
      by_request_id: requester.request_id,
      by_quota: requester.quota,
      entered_at: now,
      access_event: event,
    });
}

type TableOfRows = SQLiteTable & { id: SQLiteColumn };

/** @param subject the subject without `resource_id`, which is the id of the row */
export const entriesWhere =
  (resource: AccessResource | SQLiteColumn, table: TableOfRows, subject: Subject<SQLWrapper>) =>
  <Values extends object>(condition: (values: Placeholders<Values>) => SQL | undefined) =>
    accessEntries<Values>(resource, (values) => ({
      resource_id: table.id,
      ...subject,
      from: table,
      where: condition(values),
    }));

/** Statements for the entry about one row by its id, and about the row that the transaction has just inserted. */
export function entriesOf(
  resource: AccessResource,
  table: TableOfRows & { organization_id: SQLiteColumn },
  subject: Partial<Subject<SQLWrapper>> = {},
) {
  const entries = entriesWhere(resource, table, { organization_id: table.organization_id, ...subject });
  return {
    of: entries(({ organization_id, id }: Placeholders<OwnPath>) =>
      hasValues(table, { organization_id, id }),
    ),
    ofNewest: entries((_: object) => isNewest(table)),
    where: entries,
  };
}

export const entryOfOrganization = <Values extends { organization_id: number }>(
  resource: AccessResource,
  subjectOf: (values: Placeholders<Values>) => Omit<Subject<Value<number>>, "organization_id"> = () => ({}),
) =>
  accessEntries<Values>(resource, (values) => ({
    ...subjectOf(values),
    organization_id: organizations.id,
    from: organizations,
    where: eq(organizations.id, values.organization_id),
  }));

export interface FilterDates {
  from_date: string | null;
  to_date: string | null;
}

/** @throws Error if the read was not recorded: then its result must not be shown */
export function requireEntry([entry]: { id: number }[]): void {
  if (!entry) throw new Error("The read left no entry in the access log");
}

import { eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context, Requester } from "../../context.ts";
import type { AccessEvent, AccessResource } from "../../database/enums.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, type Source } from "../../database/insert.ts";
import { type BoundQuery, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { accessLogs, organizations } from "../../database/schema.ts";
import { isNewest } from "../../database/selects.ts";
import type { OwnPath } from "../../http/wire.ts";

/*
 * The statements that write entries of the access log. Each stands in the batch of what it records: without the entry there is
 * no text, and without the change no entry.
 */

/** What an entry is about: see `accessLogs` in database/schema.ts. */
interface Subject<Id = number> {
  organization_id: Id;
  /** Left out for a list. */
  resource_id?: Id | Value<number | null>;
  call_id?: Id | Value<number | null>;
  /** Whose call it is, or the member concerned. */
  organization_user_id?: Id | Value<number | null>;
  /** Of what was looked for. */
  reference_digest?: Value<string | null>;
}

/** The requester as values of a statement, by names that no other value of it has. */
type Entered = { [Name in keyof Requester as `by_${Name}`]: Requester[Name] } & {
  entered_at: number;
  access_event: AccessEvent;
};

/**
 * Makes the statement that writes an entry for each row that a condition selects.
 *
 * @param resource a column where the rows say it
 * @param subjectsOf from the values of the statement: what the entries are about, and the rows
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
        ...subject,
        at: entered.entered_at,
        event: entered.access_event,
        resource,
        user_id: entered.by_user_id,
        api_client_id: entered.by_api_client_id,
        acting_user: entered.by_acting_user,
        purpose: entered.by_purpose,
        is_counted: entered.by_is_counted,
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
      by_is_counted: requester.is_counted,
      entered_at: now,
      access_event: event,
    });
}

type TableOfRows = SQLiteTable & { id: SQLiteColumn };

/**
 * The entries of rows of a table, for the condition that selects the rows.
 *
 * @param subject what they say beside the id of the row
 */
export const entriesWhere =
  (resource: AccessResource | SQLiteColumn, table: TableOfRows, subject: Subject<SQLWrapper>) =>
  <Values extends object>(condition: (values: Placeholders<Values>) => SQL | undefined) =>
    accessEntries<Values>(resource, (values) => ({
      resource_id: table.id,
      ...subject,
      from: table,
      where: condition(values),
    }));

/** The same of one row by its id, and of the newest, which the transaction has just inserted. */
export function entriesOf(resource: AccessResource, table: TableOfRows & { organization_id: SQLiteColumn }) {
  const entries = entriesWhere(resource, table, { organization_id: table.organization_id });
  return {
    of: entries(({ organization_id, id }: Placeholders<OwnPath>) =>
      hasValues(table, { organization_id, id }),
    ),
    ofNewest: entries((_: object) => isNewest(table)),
  };
}

/** The entry of a list of the whole organization, or of what was looked for in it. */
export const entryOfOrganization = (resource: AccessResource) =>
  accessEntries(
    resource,
    ({ id, reference_digest }: Placeholders<{ id: number; reference_digest: string | null }>) => ({
      organization_id: organizations.id,
      reference_digest,
      from: organizations,
      where: eq(organizations.id, id),
    }),
  );

/** @throws Error where something was found to read, and no entry says so: then it must not be shown */
export function requireEntry([entry]: { id: number }[]): void {
  if (!entry) throw new Error("The read left no entry in the access log");
}

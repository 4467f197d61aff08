import { and, asc, between, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { ClientContext } from "../../context.ts";
import type { Bound } from "../../database/database.ts";
import { iif } from "../../database/expressions.ts";
import { excluded, insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizationDays, writeConflicts } from "../../database/schema.ts";
import { dateOf } from "../../http/dates.ts";
import { CLIENT_SHARE, MAX_DAILY_ACCESS_LOGS, MAX_DAILY_WRITES } from "../../limits.ts";
import { QUOTAS } from "./usage.refusals.ts";

const { organization_id, date, api_client_id, writes, access_log_entries, visits } = organizationDays;

/** The `api_client_id` of the rows of all clients together. */
const ALL_CLIENTS = 0;

/** Must repeat the partial index's WHERE, or SQLite does not use the index. */
export const isOfOneClient = sql`api_client_id <> 0`;

export const usageColumns = { date, writes, access_log_entries, visits };

export const usageOfDates = preparedQuery(
  (of: Placeholders<{ organization_id: number; from: string; to: string }>) =>
    builder
      .select(usageColumns)
      .from(organizationDays)
      .where(
        and(
          eq(organization_id, of.organization_id),
          between(date, of.from, of.to),
          eq(api_client_id, ALL_CLIENTS),
        ),
      )
      .orderBy(asc(date)),
);

interface OfDay {
  organization_id: number;
  date: string;
  /** A JSON array of `api_client_id`. */
  counted: string;
}

/** Adds to what is counted of a day of an organization, in the transaction of what is counted. */
const counting = (name: "writes" | "visits", where?: SQL) =>
  preparedQuery((of: Placeholders<OfDay & { count: number }>) =>
    insertSelect(
      organizationDays,
      { organization_id: of.organization_id, date: of.date, api_client_id: jsonValue, [name]: of.count },
      { from: jsonRows(of.counted), where },
    ).onConflictDoUpdate({
      target: [organization_id, date, api_client_id],
      set: { [name]: sql`${organizationDays[name]} + ${excluded(organizationDays[name])}` },
    }),
  );

const addVisits = counting("visits");

/** Counts a call that is reported for the first time. */
export const countVisits = (of: Omit<OfDay, "counted"> & { count: number }) =>
  addVisits({ ...of, counted: JSON.stringify([ALL_CLIENTS]) });

const countWrites = counting("writes", sql`changes() > 0`);

/** Fails the batch where more is counted than an organization may store in a day, or one of its clients. */
const requireQuota = (name: "writes" | "access_log_entries", most: number) =>
  preparedQuery((of: Placeholders<OfDay>) =>
    insertSelect(
      writeConflicts,
      { reason: iif(isOfOneClient, QUOTAS.ofClient[name], QUOTAS.ofAll[name]) },
      {
        from: organizationDays,
        where: and(
          eq(organization_id, of.organization_id),
          eq(date, of.date),
          inArray(api_client_id, jsonValues(of.counted)),
          sql`${organizationDays[name]} > ${iif(isOfOneClient, most * CLIENT_SHARE, most)}`,
        ),
      },
    ),
  );

const requireWritesLeft = requireQuota("writes", MAX_DAILY_WRITES);
const requireEntriesLeft = requireQuota("access_log_entries", MAX_DAILY_ACCESS_LOGS);

/** What runs in the transaction of statements of a client: it counts a write, if it has changed something. A trigger counts entries. */
export function besideStored({ caller, now, writes }: ClientContext, statements: Bound[]): Bound[] {
  const { organization_id, api_client_id } = caller;
  const of = { organization_id, date: dateOf(now), counted: JSON.stringify([ALL_CLIENTS, api_client_id]) };
  const hasEntries = statements.some(({ compiled }) => compiled.text.startsWith('insert into "access_logs"'));
  return [
    ...(writes > 0 ? [countWrites({ ...of, count: writes }), requireWritesLeft(of)] : []),
    ...(hasEntries ? [requireEntriesLeft(of)] : []),
  ];
}

import { and, asc, between, eq, sql } from "drizzle-orm";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizationDays } from "../../database/schema.ts";

const { organization_id, date, api_client_id, writes, access_log_entries, visits } = organizationDays;

/** The `api_client_id` of the rows of all clients together. */
export const ALL_CLIENTS = 0;

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
}

/** Adds to a number of the rows that an INSERT … SELECT makes, where they are known. */
const addTo = (name: "writes" | "visits" | "mails") => ({
  target: [organization_id, date, api_client_id],
  set: { [name]: sql`${organizationDays[name]} + ${excluded(organizationDays[name])}` },
});

/** Counts a call that is reported for the first time, in the transaction of the report. */
export const countVisit = preparedQuery((of: Placeholders<OfDay>) =>
  insertSelect(organizationDays, {
    organization_id: of.organization_id,
    date: of.date,
    visits: 1,
  }).onConflictDoUpdate(addTo("visits")),
);

/** Counts mails that will be sent. A trigger refuses one too many. */
export const countMailsOfDay = preparedQuery((of: Placeholders<OfDay & { count: number }>) =>
  insertSelect(organizationDays, {
    organization_id: of.organization_id,
    date: of.date,
    mails: of.count,
  }).onConflictDoUpdate(addTo("mails")),
);

/** Counts writes of all clients and of one, if the statement before has changed something. A trigger refuses one too many. */
export const countWrites = preparedQuery(
  (of: Placeholders<OfDay & { api_client_id: number; count: number }>) =>
    insertSelect(
      organizationDays,
      { organization_id: of.organization_id, date: of.date, api_client_id: sql`counted`, writes: of.count },
      {
        from: sql`(select ${sql.raw(String(ALL_CLIENTS))} as counted union all select ${of.api_client_id})`,
        where: sql`changes() > 0`,
      },
    ).onConflictDoUpdate(addTo("writes")),
);

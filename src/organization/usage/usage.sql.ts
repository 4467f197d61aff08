import { and, asc, between, eq, sql } from "drizzle-orm";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { totalOf } from "../../database/totals.ts";
import { organizations } from "../organizations/organizations.table.ts";
import { organizationDays } from "./usage.table.ts";

const { organization_id, date, api_client_id, writes, access_log_entries, visits } = organizationDays;

/** Stands for all clients together. */
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

/** No row if the organization does not exist. */
export const countWaitingRooms = preparedQuery((of: Placeholders<{ organization_id: number }>) =>
  builder
    .select({ waiting_rooms_count: totalOf("waiting_rooms", of.organization_id).as("waiting_rooms_count") })
    .from(organizations)
    .where(eq(organizations.id, of.organization_id)),
);

interface OfDay {
  organization_id: number;
  date: string;
}

type Counted = "writes" | "visits" | "mails" | "sign_ins" | "reserved";

const addTo = (name: Counted) => ({
  target: [organization_id, date, api_client_id],
  set: { [name]: sql`${organizationDays[name]} + ${excluded(organizationDays[name])}` },
});

const nothingOn = (of: Placeholders<OfDay>) => ({
  organization_id: of.organization_id,
  date: of.date,
  api_client_id: ALL_CLIENTS,
  ...{ writes: 0, access_log_entries: 0, visits: 0, mails: 0, sign_ins: 0, reserved: 0 },
});

const countsOf = (name: Counted) =>
  preparedQuery((of: Placeholders<OfDay & { count: number }>) =>
    insertSelect(organizationDays, { ...nothingOn(of), [name]: of.count }).onConflictDoUpdate(addTo(name)),
  );

/** Counts in the transaction of the report. */
export const countVisits = countsOf("visits");

export const countMailsOfDay = countsOf("mails");

export const countSignIns = countsOf("sign_ins");

export const countReserved = countsOf("reserved");

/** For the client and for all clients together. */
export const countWrites = preparedQuery(
  (of: Placeholders<OfDay & { api_client_id: number; count: number }>) =>
    insertSelect(
      organizationDays,
      { ...nothingOn(of), api_client_id: sql`counted`, writes: of.count },
      { from: sql`(select ${sql.raw(String(ALL_CLIENTS))} as counted union all select ${of.api_client_id})` },
    ).onConflictDoUpdate(addTo("writes")),
);

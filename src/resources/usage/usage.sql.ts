import { and, asc, between, eq, type SQL, sql } from "drizzle-orm";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizationDays } from "../../database/schema.ts";

const { organization_id, date, writes, access_log_entries, visits } = organizationDays;

export const usageColumns = { date, writes, access_log_entries, visits };

export const usageOfDates = preparedQuery(
  (of: Placeholders<{ organization_id: number; from: string; to: string }>) =>
    builder
      .select(usageColumns)
      .from(organizationDays)
      .where(and(eq(organization_id, of.organization_id), between(date, of.from, of.to)))
      .orderBy(asc(date)),
);

/** Adds to what is counted of a day of an organization, in the transaction of what is counted. */
const counting = (name: "writes" | "visits" | "mails", where?: SQL) =>
  preparedQuery((of: Placeholders<{ organization_id: number; date: string; count: number }>) =>
    insertSelect(
      organizationDays,
      { organization_id: of.organization_id, date: of.date, [name]: of.count },
      { where },
    ).onConflictDoUpdate({
      target: [organization_id, date],
      set: { [name]: sql`${organizationDays[name]} + ${excluded(organizationDays[name])}` },
    }),
  );

/** Counts a write that stores as much as several. */
export const countMoreWrites = counting("writes");

/** Counts a call that is reported for the first time. */
export const countVisits = counting("visits");

/** Counts mails that are to be sent. A trigger refuses one too many. */
export const countMailsOfDay = counting("mails");

/** Counts a write of a client, if it has changed something. A trigger refuses one too many. */
export const countWrites = counting("writes", sql`changes() > 0`);

import { and, asc, between, eq, sql } from "drizzle-orm";
import { insertSelect } from "../../database/insert.ts";
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

/** Counts a write that stores as much as several, in its transaction. */
export const countMoreWrites = preparedQuery(
  (of: Placeholders<{ organization_id: number; date: string; count: number }>) =>
    builder
      .insert(organizationDays)
      .values({ organization_id: of.organization_id, date: of.date, writes: of.count })
      .onConflictDoUpdate({
        target: [organization_id, date],
        set: { writes: sql`${writes} + excluded.writes` },
      }),
);

/** Counts a call that is reported for the first time, in its transaction. */
export const countVisit = preparedQuery((of: Placeholders<{ organization_id: number; date: string }>) =>
  builder
    .insert(organizationDays)
    .values({ organization_id: of.organization_id, date: of.date, visits: 1 })
    .onConflictDoUpdate({ target: [organization_id, date], set: { visits: sql`${visits} + 1` } }),
);

/** Counts a write of a client, in its transaction, if it has changed something. A trigger refuses one too many. */
export const countWrite = preparedQuery((of: Placeholders<{ organization_id: number; date: string }>) =>
  insertSelect(
    organizationDays,
    { organization_id: of.organization_id, date: of.date, writes: 1 },
    { where: sql`changes() > 0` },
  ).onConflictDoUpdate({ target: [organization_id, date], set: { writes: sql`${writes} + 1` } }),
);

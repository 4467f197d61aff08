import { and, asc, desc, eq, gt, gte, isNull, lt, lte, min, notExists, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { coalesce, columnAs, hasValues, joinedColumnAs } from "../../database/expressions.ts";
import { insertSelect, valuesFor } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, type Row, type RowsOf } from "../../database/queries.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { eachOf } from "../../database/turns.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { accessLogColumns } from "../access_logs/access_logs.sql.ts";
import { accessLogs } from "../access_logs/access_logs.table.ts";
import { accessLogSeals } from "./access_log_seals.table.ts";

type NewSeal = Omit<typeof accessLogSeals.$inferSelect, "id">;

const { organization_id, date, count, first_id, last_id, sha256, previous, jws } = accessLogSeals;

const sealColumns = { date, count, first_id, last_id, sha256, previous, jws };

export type Seal = Row<typeof sealColumns>;

/** Oldest first. Clients page by `last_id`, a seal's position in the chain. */
export const sealsAfter = preparedQuery(
  (part: Placeholders<{ organization_id: number; after: number; limit: number }>) =>
    builder
      .select(sealColumns)
      .from(accessLogSeals)
      .where(and(eq(organization_id, part.organization_id), gt(last_id, part.after)))
      .orderBy(asc(last_id))
      .limit(part.limit),
);

export const sealOfDay = rowsBy(accessLogSeals, sealColumns, "organization_id", "date");

/** The entry about reading a file. Like the entry about a list, it has no resource id. */
export const fileEntry = entriesWhere("access_log", accessLogSeals, { organization_id, resource_id: null })(
  (of: Placeholders<Pick<NewSeal, "organization_id" | "date">>) =>
    hasValues(accessLogSeals, { organization_id: of.organization_id, date: of.date }),
);

const last = alias(accessLogSeals, "last");
const first = alias(accessLogs, "first");

export type OrganizationToSeal = RowsOf<[ReturnType<typeof organizationsToSeal>]>[0][number];

/**
 * Organizations with a day to seal, in random order, so that an organization whose day cannot be sealed does not hold
 * up the others. `first_at` is the time of the first unsealed entry, `closed` the newest day that may be sealed, and `end` the time
 * when it ended.
 */
export const organizationsToSeal = preparedQuery(
  (due: Placeholders<{ limit: number; closed: string; end: number }>) => {
    const owner = sql<number>`owner.id`;
    const lastSeal = selectColumn(accessLogSeals.id, eq(organization_id, owner))
      .orderBy(desc(last_id))
      .limit(1);
    const firstUnsealed = builder
      .select({ id: min(accessLogs.id) })
      .from(accessLogs)
      .where(and(eq(accessLogs.organization_id, owner), gt(accessLogs.id, coalesce(last.last_id, 0))));
    return builder
      .select({
        organization_id: owner.as("organization_id"),
        first_at: columnAs(first.at, "first_at"),
        last_id: last.last_id,
        last_date: joinedColumnAs(last.date, "last_date"),
        previous: joinedColumnAs(last.jws_sha256, "previous"),
      })
      .from(sql`(${eachOf(accessLogs.organization_id)}) as owner`)
      .leftJoin(last, eq(last.id, lastSeal))
      .innerJoin(first, eq(first.id, firstUnsealed))
      .where(and(livesHere(owner), lt(first.at, due.end), or(isNull(last.date), lt(last.date, due.closed))))
      .orderBy(sql`random()`)
      .limit(due.limit);
  },
);

/** An organization's entries with ids above `after`, up to and including `through`. */
export interface EntriesBetween {
  organization_id: number;
  after: number;
  through: number;
}

export const entriesBetween = preparedQuery((part: Placeholders<EntriesBetween & { limit: number }>) =>
  builder
    .select(accessLogColumns)
    .from(accessLogs)
    .where(
      and(
        eq(accessLogs.organization_id, part.organization_id),
        gt(accessLogs.id, part.after),
        lte(accessLogs.id, part.through),
      ),
    )
    .orderBy(asc(accessLogs.id))
    .limit(part.limit),
);

/** Inserts nothing if another run of the cron has sealed the day meanwhile. */
export const insertSeal = preparedQuery((seal: Placeholders<NewSeal>) => {
  const later = selectColumn(
    accessLogSeals.id,
    eq(organization_id, seal.organization_id),
    gte(date, seal.date),
  );
  return insertSelect(accessLogSeals, valuesFor(accessLogSeals, seal), {
    where: notExists(later),
  }).returning({ id: accessLogSeals.id });
});

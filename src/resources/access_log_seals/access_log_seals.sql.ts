import { and, asc, desc, eq, gt, gte, isNull, lt, lte, min, notExists, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { coalesce, columnAs, hasValues, joinedColumnAs } from "../../database/expressions.ts";
import { insertSelect, valuesFor } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { accessLogSeals, accessLogs } from "../../database/schema.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { eachOf, placeInTurn, type Turn } from "../../database/turns.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { accessLogColumns } from "../access_logs/access_logs.sql.ts";

type NewSeal = Omit<typeof accessLogSeals.$inferSelect, "id">;

/** The claims of a seal, which its signature covers. */
export type SealClaims = Omit<NewSeal, "jws" | "jws_sha256" | "created_at">;

const { organization_id, date, count, first_id, last_id, sha256, previous, jws } = accessLogSeals;

export const sealColumns = { date, count, first_id, last_id, sha256, previous, jws };

/** Oldest first. The last entry of a seal is its place in the chain: clients page by it. */
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

/** The entry of who reads a file. It has no id, as that of a list. */
export const fileEntry = entriesWhere("access_log", accessLogSeals, { organization_id, resource_id: null })(
  (of: Placeholders<Pick<SealClaims, "organization_id" | "date">>) =>
    hasValues(accessLogSeals, { organization_id: of.organization_id, date: of.date }),
);

const last = alias(accessLogSeals, "last");
const first = alias(accessLogs, "first");

/** An organization whose next day can be sealed. */
export interface OrganizationToSeal {
  organization_id: number;
  /** When its first entry that no seal has was made. */
  first_at: number;
  /** Of its last seal; null if it has none. */
  last_id: number | null;
  last_date: string | null;
  previous: string | null;
}

/** @param due `closed` is the newest day that may be sealed, and `end` when it ended */
export const organizationsToSeal = preparedQuery(
  (due: Placeholders<Pick<Turn, "order" | "portion"> & { closed: string; end: number }>) => {
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
      .where(
        and(
          isNotQuiet(),
          livesHere(owner),
          lt(first.at, due.end),
          or(isNull(last.date), lt(last.date, due.closed)),
        ),
      )
      .orderBy(placeInTurn(owner, due.order))
      .limit(due.portion);
  },
);

/** Entries of an organization: those after an id, through another one. */
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

/** Inserts nothing where another run of the cron has sealed the day meanwhile. */
export const insertSeal = preparedQuery((seal: Placeholders<NewSeal>) => {
  const later = selectColumn(
    accessLogSeals.id,
    eq(organization_id, seal.organization_id),
    gte(date, seal.date),
  );
  return insertSelect(accessLogSeals, valuesFor(accessLogSeals, seal), {
    where: and(isNotQuiet(), notExists(later)),
  }).returning({ id: accessLogSeals.id });
});

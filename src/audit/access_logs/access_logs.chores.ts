import { and, asc, eq, gte, inArray, lt, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import { iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { eachOf, rowid, rowsInTurn, type Turn, workOff } from "../../database/turns.ts";
import { ACCESS_LOGS_KEPT_FOR } from "../../lifetimes.ts";
import { accessLogSeals } from "../access_log_seals/access_log_seals.table.ts";
import { accessLogs } from "./access_logs.table.ts";

const oldestOf = (owner: SQL, column: SQLiteColumn) =>
  selectColumn(column, eq(accessLogs.organization_id, owner)).orderBy(asc(accessLogs.id)).limit(1);

/** A column of the seal that covers the organization's oldest remaining entry. */
const oldestSealOf = (owner: SQL, column: SQLiteColumn) =>
  selectColumn(
    column,
    eq(accessLogSeals.organization_id, owner),
    gte(accessLogSeals.last_id, oldestOf(owner, accessLogs.id)),
  )
    .orderBy(asc(accessLogSeals.last_id))
    .limit(1);

const hasNoSeal = (owner: SQL) =>
  notExists(selectColumn(accessLogSeals.id, eq(accessLogSeals.organization_id, owner)));

type Old = Turn & { before: number };

/** Organizations whose oldest entry is past retention. This reads two to four rows per organization, not one per day. */
const ownersOfOld = ({ before }: Placeholders<Old>): SQL => {
  const owner = sql`owner_of_log.id`;
  const oldestSealAt = oldestSealOf(owner, accessLogSeals.created_at);
  const oldestEntryAt = oldestOf(owner, accessLogs.at);
  return sql`select id from (${eachOf(accessLogs.organization_id)}) as owner_of_log
    where ${lt(iif(hasNoSeal(owner), oldestEntryAt, oldestSealAt), before)}`;
};

const deleteOld = preparedQuery((old: Placeholders<Old>) => {
  /** The oldest entries of such an organization: those of one seal, or without seals, those past retention. */
  const entriesOf = (owner: SQL) => {
    const { id, at, organization_id } = accessLogs;
    const oldest = builder
      .select({ id, at })
      .from(accessLogs)
      .where(eq(organization_id, owner))
      .orderBy(asc(id))
      .limit(old.share)
      .as("oldest");
    const isSealed = lte(oldest.id, oldestSealOf(owner, accessLogSeals.last_id));
    const isOld = or(isSealed, and(hasNoSeal(owner), lt(oldest.at, old.before)));
    return builder.select({ id: oldest.id }).from(oldest).where(isOld);
  };
  return builder
    .delete(accessLogs)
    .where(inArray(rowid, rowsInTurn(accessLogs, ownersOfOld(old), entriesOf, old)))
    .returning({ organization_id: accessLogs.organization_id });
});

/** Deletes entries whose seal is past retention, or without seals, entries of that age. The files of sealed days stay. */
export const deleteOldAccessLogs = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => deleteOld({ ...turn, before: now - ACCESS_LOGS_KEPT_FOR }));

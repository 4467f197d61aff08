import { and, asc, eq, gte, inArray, lt, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import { iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { accessLogSeals, accessLogs } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { eachOf, ownerIdOf, rowid, rowsInTurn, type Turn, workOff } from "../../database/turns.ts";
import { ACCESS_LOGS_KEPT_FOR } from "../../lifetimes.ts";

const oldestOf = (owner: SQL, column: SQLiteColumn) =>
  selectColumn(column, eq(accessLogs.organization_id, owner)).orderBy(asc(accessLogs.id)).limit(1);

/** Of the seal of the oldest entry that an organization still has. */
const oldestSealOf = (owner: SQL, column: SQLiteColumn) =>
  selectColumn(
    column,
    eq(accessLogSeals.organization_id, owner),
    gte(accessLogSeals.last_id, oldestOf(owner, accessLogs.id)),
  )
    .orderBy(asc(accessLogSeals.last_id))
    .limit(1);

/** True where the organization has no seal at all: then nothing says when its entries were sealed. */
const hasNoSeal = (owner: SQL) =>
  notExists(selectColumn(accessLogSeals.id, eq(accessLogSeals.organization_id, owner)));

type Old = Turn & { before: number };

/** The organizations whose oldest entry is old. It reads two rows or four of each, and not one for each day. */
const ownersOfOld = ({ before }: Placeholders<Old>): SQL => {
  const owner = sql`owner_of_log.id`;
  const oldestSealAt = oldestSealOf(owner, accessLogSeals.created_at);
  const oldestEntryAt = oldestOf(owner, accessLogs.at);
  return sql`select id from (${eachOf(accessLogs.organization_id)}) as owner_of_log
    where ${lt(iif(hasNoSeal(owner), oldestEntryAt, oldestSealAt), before)}`;
};

/** The oldest entries of such an organization: those of one seal, or without seals what is old among them. */
const oldEntriesOf =
  ({ before, share }: Placeholders<Old>) =>
  (owner: SQL) => {
    const through = oldestSealOf(owner, accessLogSeals.last_id);
    const oldest = builder
      .select({ id: accessLogs.id, at: accessLogs.at })
      .from(accessLogs)
      .where(eq(accessLogs.organization_id, owner))
      .orderBy(asc(accessLogs.id))
      .limit(share)
      .as("oldest");
    return builder
      .select({ id: oldest.id })
      .from(oldest)
      .where(or(lte(oldest.id, through), and(hasNoSeal(owner), lt(oldest.at, before))));
  };

const deleteOld = preparedQuery((old: Placeholders<Old>) =>
  builder
    .delete(accessLogs)
    .where(inArray(rowid, rowsInTurn(accessLogs, ownersOfOld(old), oldEntriesOf(old), old)))
    .returning({ owner_id: ownerIdOf(accessLogs.organization_id) }),
);

/** Deletes what was sealed long ago, and without seals what is as old. The files stay. */
export const deleteOldAccessLogs = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => deleteOld({ ...turn, before: now - ACCESS_LOGS_KEPT_FOR }));

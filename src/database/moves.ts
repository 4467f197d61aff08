import { and, eq, isNotNull, isNull, lt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { authorizationCodes } from "../joining/authorization_codes/authorization_codes.table.ts";
import { moves } from "./database.table.ts";
import { builder, type Placeholders, preparedQuery } from "./queries.ts";
import { rowsWhere, selectColumn } from "./selects.ts";

/*
 * An organization that moved leaves its rows in the old database (see src/dev/move.ts), where triggers refuse changes to them.
 * Only code that takes a database from a secret has to know: it may be the old one.
 */

/**
 * Background work must skip the rows of an organization that is moving, or has moved. If there is no such organization, SQLite
 * finds that out once instead of for each row.
 */
export const livesHere = (organization_id: SQLWrapper): SQL =>
  sql`(not exists (select 1 from ${moves})
    or not exists (select 1 from ${moves} where ${moves.organization_id} = ${organization_id}))`;

/** The organizations whose move or deletion was begun before a time and not completed: their background work waits. */
export const frozenBefore = rowsWhere(
  moves,
  { organization_id: moves.organization_id, since: moves.since },
  ({ time }: Placeholders<{ time: number }>) => and(isNull(moves.shard), lt(moves.since, time)),
);

const newShard = (of: SQL | undefined) =>
  builder
    .select({ shard: sql<number>`${moves.shard}`.as("shard") })
    .from(moves)
    .where(and(of, isNotNull(moves.shard)));

/** For a client that this isolate does not know yet. It searches all moves, because there are few. */
export const newShardOfClient = preparedQuery(({ client_id }: Placeholders<{ client_id: string }>) =>
  newShard(sql`${client_id} in (select value from json_each(${moves.client_ids}))`),
);

/** For an authorization code that could not be redeemed because triggers refused the write. */
export const newShardOfCode = preparedQuery(({ code_digest }: Placeholders<{ code_digest: string }>) =>
  newShard(
    eq(
      moves.organization_id,
      selectColumn(authorizationCodes.organization_id, eq(authorizationCodes.code_digest, code_digest)),
    ),
  ),
);

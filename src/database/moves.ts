import { and, eq, isNotNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery } from "./queries.ts";
import { authorizationCodes, moves } from "./schema.ts";
import { selectColumn } from "./selects.ts";

/*
 * An organization can move to another database while it is used (see src/dev/move.ts). Its old rows stay where they were for a
 * while. An isolate may take them for the present ones, as it remembers for a minute where an organization lives: so with
 * several databases, each batch of a request also asks whether the organization still lives there.
 */

/**
 * False for an organization that is moving, or has moved: nothing may work on its rows here. Where none has, SQLite finds that out
 * once, and not for each.
 */
export const livesHere = (organization_id: SQLWrapper): SQL =>
  sql`(not exists (select 1 from ${moves})
    or not exists (select 1 from ${moves} where ${moves.organization_id} = ${organization_id}))`;

/** What a request asks with each batch: a row with the new shard, once the organization has moved there. */
const newShard = (of: SQL | undefined) =>
  builder
    .select({ shard: sql<number>`${moves.shard}`.as("shard") })
    .from(moves)
    .where(and(of, isNotNull(moves.shard)));

export const newShardOfId = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  newShard(eq(moves.organization_id, id)),
);

export const newShardOfSlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  newShard(eq(moves.slug, slug)),
);

export const newShardOfCode = preparedQuery(({ code_digest }: Placeholders<{ code_digest: string }>) =>
  newShard(
    eq(
      moves.organization_id,
      selectColumn(authorizationCodes.organization_id, eq(authorizationCodes.code_digest, code_digest)),
    ),
  ),
);

/** There are few moves, so it goes through all of them. */
export const newShardOfClient = preparedQuery(({ client_id }: Placeholders<{ client_id: string }>) =>
  newShard(sql`${client_id} in (select value from json_each(${moves.client_ids}))`),
);

import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

type WaitingTable = SQLiteTable & {
  id: SQLiteColumn;
  organization_id: SQLiteColumn;
  updated_at: SQLiteColumn;
};

interface InTurn {
  /** What the WHERE of an index on (organization_id, updated_at) says, in its words. */
  isIndexed: SQL;
  /** True for the rows of that index that the chore works off. */
  isDue: SQL;
  /** At most this many rows. */
  portion: number;
}

/**
 * Selects the ids of the rows that a chore of the cron works off next: of each organization those that have waited
 * longest, and of no organization more than its share of the portion. So one organization's backlog does not delay what
 * another's rows wait for.
 *
 * It jumps in the index from one organization to the next: it reads some rows for each that has any in it, and besides
 * those that are due.
 */
export const idsInTurn = (table: WaitingTable, { isIndexed, isDue, portion }: InTurn): SQL => {
  const { id, organization_id, updated_at } = table;
  const isOfTurn = (owner: SQL) => sql`${organization_id} = ${owner} and ${isIndexed} and ${isDue}`;
  return sql`(
    with recursive owners (owner_id) as (
      select min(${organization_id}) from ${table} where ${isIndexed}
      union all
      select (select min(${organization_id}) from ${table} where ${isIndexed} and ${organization_id} > owner_id)
      from owners where owner_id is not null
    ),
    oldest (owner_id, since) as (
      select owner_id, (
        select ${updated_at} from ${table} where ${isOfTurn(sql`owner_id`)} order by ${updated_at} limit 1
      )
      from owners
    ),
    turns (owner_id) as (
      select owner_id from oldest where since is not null order by since limit ${portion}
    )
    select ${id} from turns cross join ${table} where ${id} in (
      select ${id} from ${table} where ${isOfTurn(sql`turns.owner_id`)} order by ${updated_at}
      limit max(1, cast(${portion} / (select count(*) from turns) as integer))
    )
  )`;
};

import { type SQL, sql } from "drizzle-orm";
import type { ListName } from "./schema.ts";

/** SQL for how long a list is, from the total that triggers keep: the same however long it has grown. */
export function totalOf(list: ListName, owner_id: number | SQL): SQL<number> {
  return sql`coalesce((select total from list_totals where list = ${list} and owner_id = ${owner_id}), 0)`;
}

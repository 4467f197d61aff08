import type { SQL } from "drizzle-orm";
import { coalesce, hasValues, scalar } from "./expressions.ts";
import type { Value } from "./queries.ts";
import { type ListName, listTotals } from "./schema.ts";
import { selectColumn } from "./selects.ts";

/** How long a list is, from the total that triggers keep: it costs the same however long the list has grown. */
export function totalOf(list: ListName, owner_id: Value<number>): SQL<number> {
  const total = selectColumn(listTotals.total, hasValues(listTotals, { list, owner_id }));
  return coalesce(scalar(total), 0);
}

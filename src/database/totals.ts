import type { SQL } from "drizzle-orm";
import { type ListName, listTotals } from "./database.table.ts";
import { coalesce, hasValues, scalar } from "./expressions.ts";
import type { Value } from "./queries.ts";
import { selectColumn } from "./selects.ts";

/** Triggers maintain it, so its cost does not grow with the list. */
export function totalOf(list: ListName, owner_id: Value<number>): SQL<number> {
  const total = selectColumn(listTotals.total, hasValues(listTotals, { list, owner_id }));
  return coalesce(scalar(total), 0);
}

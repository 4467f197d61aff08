import { getTableColumns, getTableName, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * For `onConflictDoUpdate`: takes over the fields of the row that met another, where one of them differs. So a
 * repeated report changes nothing, not updated_at either.
 *
 * @param target the columns whose values are the reporter's own key
 * @param alongside fields that are taken over too, though they alone are no change
 */
export function takeOverChanges<Table extends SQLiteTable>(
  table: Table,
  target: SQLiteColumn[],
  fields: (keyof Table["_"]["columns"] & string)[],
  alongside: (keyof Table["_"]["columns"] & string)[] = [],
) {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  const named = (of: string, field: string) =>
    sql`${sql.identifier(of)}.${sql.identifier(columns[field]?.name ?? field)}`;
  const list = (of: string) =>
    sql.join(
      fields.map((field) => named(of, field)),
      sql`, `,
    );
  return {
    target,
    set: Object.fromEntries(
      [...fields, ...alongside, "updated_at"].map((field) => [field, named("excluded", field)]),
    ),
    setWhere: sql`(${list(getTableName(table))}) is not (${list("excluded")})`,
  };
}

import { getTableColumns, sql } from "drizzle-orm";
import { accessLogs } from "../../database/schema.ts";

const { organization_id: _, request_id, ...ownColumns } = getTableColumns(accessLogs);

export const accessLogColumns = {
  ...ownColumns,
  /** As hex: D1 sends a BLOB as an array of numbers. */
  request_id: sql<string | null>`iif(${request_id} is null, null, lower(hex(${request_id})))`.as(
    "request_id",
  ),
};

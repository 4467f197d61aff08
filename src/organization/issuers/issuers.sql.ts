import { getTableColumns } from "drizzle-orm";
import { entriesOf } from "../../audit/access_logs/access_logs.entries.ts";
import { deleteBy, rowsBy } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { issuers } from "./issuers.table.ts";

export const issuerColumns = getTableColumns(issuers);

export const issuerWrites = tableWrites(issuers, issuerColumns);

export const issuerEntry = entriesOf("issuer", issuers);

/** One row for each audience. */
export const issuersByName = rowsBy(issuers, issuerColumns, "organization_id", "issuer");

export const deleteIssuerOfPath = deleteBy(issuers, "organization_id", "id");

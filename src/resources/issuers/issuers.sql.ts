import { getTableColumns } from "drizzle-orm";
import { issuers } from "../../database/schema.ts";
import { deleteBy, rowsBy } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { entriesOf } from "../access_logs/access_logs.entries.ts";

export const issuerColumns = getTableColumns(issuers);

export const issuerWrites = tableWrites(issuers, issuerColumns);

export const issuerEntry = entriesOf("issuer", issuers);

/** An issuer by what its tokens call it, among those that the organization recognizes. */
export const issuerByName = rowsBy(issuers, issuerColumns, "organization_id", "issuer");

export const deleteIssuerOfPath = deleteBy(issuers, "organization_id", "id");

import { getTableColumns } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { issuers } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { OwnPath } from "../../http/wire.ts";
import { entriesOf } from "../access_logs/access_logs.entries.ts";

export const issuerColumns = getTableColumns(issuers);

export const issuerWrites = tableWrites(issuers, issuerColumns);

export const issuerEntry = entriesOf("issuer", issuers);

/** An issuer by what its tokens call it, among those that the organization recognizes. */
export const issuerByName = preparedQuery(
  ({ organization_id, issuer }: Placeholders<{ organization_id: number; issuer: string }>) =>
    builder.select(issuerColumns).from(issuers).where(hasValues(issuers, { organization_id, issuer })),
);

export const deleteIssuerOfPath = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  builder.delete(issuers).where(hasValues(issuers, { organization_id, id })).returning({ id: issuers.id }),
);

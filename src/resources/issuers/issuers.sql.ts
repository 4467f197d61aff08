import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { issuers } from "../../database/schema.ts";

export const issuerColumns = getTableColumns(issuers);

/** True for the issuer of this name that the organization recognizes. */
export const recognizedIssuer = (organization_id: Value<number>, issuer: Value<string>): SQL | undefined =>
  and(eq(issuers.organization_id, organization_id), eq(issuers.issuer, issuer));

/** An issuer by what its tokens call it, among those that the organization recognizes. */
export const issuerByName = namedQuery(
  ({ organization_id, issuer }: Placeholders<{ organization_id: number; issuer: string }>) =>
    builder.select(issuerColumns).from(issuers).where(recognizedIssuer(organization_id, issuer)),
);

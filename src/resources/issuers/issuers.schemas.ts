import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { name, toTimestamp } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { issuerName, jwksUrl } from "./issuers.fields.ts";
import type { issuerSchema } from "./issuers.responses.ts";
import type { issuerColumns } from "./issuers.sql.ts";

export const createIssuerBody = lazily(() =>
  z.object({
    issuer: z.object({
      issuer: issuerName(),
      audience: issuerName(),
      jwks_url: jwksUrl(),
      email_claim: name().default("email"),
    }),
  }),
);

export type Issuer = Row<typeof issuerColumns>;

export function toIssuer(row: Issuer): z.input<typeof issuerSchema> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    issuer: row.issuer,
    audience: row.audience,
    jwks_url: row.jwks_url,
    email_claim: row.email_claim,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

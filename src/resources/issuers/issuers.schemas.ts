import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { isLoopback } from "../../http/loopback.ts";
import { HTTP_URL, name, text, toTimestamp } from "../../http/wire.ts";
import { MAX_ISSUER_LENGTH } from "../../limits.ts";
import { NOT_TRUSTWORTHY } from "./issuers.refusals.ts";
import type { issuerSchema } from "./issuers.responses.ts";
import type { issuerColumns } from "./issuers.sql.ts";

/** Keys that came over plain HTTP could be anybody's, except from this very machine. */
const jwksUrl = text(MAX_ISSUER_LENGTH)
  .refine((value) => URL.canParse(value) && isTrustworthy(new URL(value)), NOT_TRUSTWORTHY)
  .meta({ override: { pattern: HTTP_URL } });

function isTrustworthy({ protocol, hostname, username, password }: URL): boolean {
  if (username || password) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

export const createIssuerBody = z.object({
  issuer: z.object({
    issuer: text(MAX_ISSUER_LENGTH),
    audience: text(MAX_ISSUER_LENGTH),
    jwks_url: jwksUrl,
    email_claim: name.default("email"),
  }),
});

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

import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { isLoopback } from "../../http/loopback.ts";
import { HTTP_URL, name, text, toTimestamp } from "../../http/wire.ts";
import { MAX_ISSUER_LENGTH } from "../../limits.ts";
import { NOT_TRUSTWORTHY } from "./issuers.merge.ts";
import type { issuerSchema } from "./issuers.responses.ts";
import type { issuerColumns } from "./issuers.sql.ts";

/** A token's `iss` or `aud`. */
export const issuerName = () => text(MAX_ISSUER_LENGTH);

/** Keys fetched over plain HTTP could be forged, unless they come from the same machine. */
export const jwksUrl = () =>
  text(MAX_ISSUER_LENGTH)
    .refine((value) => URL.canParse(value) && isTrustworthy(new URL(value)), NOT_TRUSTWORTHY)
    .meta({ override: { pattern: HTTP_URL } });

function isTrustworthy({ protocol, hostname, username, password }: URL): boolean {
  if (username || password) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

export const createIssuerBody = () =>
  z.object({
    issuer: z.object({
      issuer: issuerName(),
      audience: issuerName(),
      jwks_url: jwksUrl(),
      email_claim: name().default("email"),
      require_verified_email: z.boolean().default(true),
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
    require_verified_email: row.require_verified_email,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

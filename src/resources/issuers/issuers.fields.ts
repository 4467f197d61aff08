import { isLoopback } from "../../http/loopback.ts";
import { HTTP_URL, text } from "../../http/wire.ts";
import { MAX_ISSUER_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { NOT_TRUSTWORTHY } from "./issuers.refusals.ts";

/** The `iss` or the `aud` of a token. */
export const issuerName = lazily(() => text(MAX_ISSUER_LENGTH));

/** Keys that came over plain HTTP could be anybody's, except from this very machine. */
export const jwksUrl = lazily(() =>
  text(MAX_ISSUER_LENGTH)
    .refine((value) => URL.canParse(value) && isTrustworthy(new URL(value)), NOT_TRUSTWORTHY)
    .meta({ override: { pattern: HTTP_URL } }),
);

function isTrustworthy({ protocol, hostname, username, password }: URL): boolean {
  if (username || password) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

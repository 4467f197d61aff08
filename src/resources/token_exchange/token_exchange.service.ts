import { digest, randomSecret } from "../../bytes/digest.ts";
import type { ClientContext } from "../../context.ts";
import { pinnedShard } from "../../database/database.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { AUTHORIZATION_CODE_LIFETIME } from "../../lifetimes.ts";
import { AUTHORIZATION_CODE_BYTES } from "../../limits.ts";
import { insertAuthorizationCode } from "../authorization_codes/authorization_codes.sql.ts";
import { pendingInviteOf } from "../invites/invites.sql.ts";
import { issuerByName } from "../issuers/issuers.sql.ts";
import { invalidToken, inviteNotAccepted } from "./token_exchange.refusals.ts";
import { claimedIssuer, verifiedEmail } from "./token_exchange.tokens.ts";

/**
 * Exchanges a token of a recognized issuer for an authorization code of the user whom it names.
 *
 * @throws ApiError 401 if the token is at fault or its user has no access, 503 if the issuer is down
 */
export async function exchangeToken(context: ClientContext, token: string): Promise<string> {
  const { db, now, caller } = context;
  const { organization_id } = caller;
  // Read for each token: an issuer that was deleted is trusted no longer.
  const issuer = await runFirst(db, issuerByName({ organization_id, issuer: claimedIssuer(token) }));
  if (!issuer) throw invalidToken("issuer_unknown");
  const email = await verifiedEmail(token, issuer, now);
  const code = randomSecret(AUTHORIZATION_CODE_BYTES, pinnedShard(context));
  const [inserted, pending] = await runBatch(db, [
    insertAuthorizationCode({
      organization_id,
      email,
      code_digest: await digest(code),
      expires_at: now + AUTHORIZATION_CODE_LIFETIME,
      now,
    }),
    pendingInviteOf({ organization_id, email }),
  ]);
  if (inserted.length > 0) return code;
  if (pending.length > 0) throw inviteNotAccepted();
  throw invalidToken("user_unknown");
}

import type { ClientContext } from "../../context.ts";
import { digest, randomSecret } from "../../database/digest.ts";
import { runBatch } from "../../database/queries.ts";
import { ApiError } from "../../http/errors.ts";
import { AUTHORIZATION_CODE_BYTES, AUTHORIZATION_CODE_LIFETIME } from "../../limits.ts";
import { insertAuthorizationCode } from "../authorization_codes/authorization_codes.sql.ts";
import { pendingInviteOf } from "../invites/invites.sql.ts";
import { invalidToken, verifyToken } from "./token_exchange.verification.ts";

/**
 * Exchanges a token of a recognized issuer for an authorization code of the user whom it names.
 *
 * @throws ApiError 401 if the token is at fault or its user has no access, 503 if the issuer is down
 */
export async function exchangeToken({ db, now, caller }: ClientContext, token: string): Promise<string> {
  const { organization_id } = caller;
  const email = await verifyToken(db, now, organization_id, token);
  const code = randomSecret(AUTHORIZATION_CODE_BYTES);
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
  if (pending.length > 0) throw new ApiError(401, "Please accept your invite", { reason: "invite_pending" });
  throw invalidToken("user_unknown");
}

import { and, eq } from "drizzle-orm";
import type { ClientContext } from "../../context.ts";
import { invites } from "../../database/schema.ts";
import { ApiError } from "../../http/errors.ts";
import { createdAuthorizationCode } from "../authorization_codes/authorization_codes.service.ts";
import { isPending } from "../invites/invites.sql.ts";
import { invalidToken, verifyToken } from "./token_exchange.verification.ts";

/**
 * Exchanges a token of a recognized issuer for an authorization code of the user whom it names.
 *
 * @throws ApiError 401 where the token is at fault or its user has no access, 503 where the issuer is down
 */
export async function exchangeToken({ db, now, caller }: ClientContext, token: string): Promise<string> {
  const { organization_id } = caller;
  const email = await verifyToken(db, now, organization_id, token);
  const { code, insert } = await createdAuthorizationCode(db, now, { organization_id, email });
  const [created, pending] = await db.batch([
    insert,
    db
      .select({ id: invites.id })
      .from(invites)
      .where(and(eq(invites.organization_id, organization_id), eq(invites.email, email), isPending(now))),
  ]);
  if (created.length > 0) return code;
  if (pending.length > 0) throw new ApiError(401, "Please accept your invite", { reason: "invite_pending" });
  throw invalidToken("user_unknown");
}

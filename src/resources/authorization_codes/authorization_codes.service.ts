import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { digest } from "../../database/digest.ts";
import { namedCleanUp } from "../../database/portions.ts";
import { builder, namedQuery, type Placeholders, runAll, runBatch } from "../../database/queries.ts";
import { authorizationCodes, organizations, organizationUsers, users } from "../../database/schema.ts";
import { ApiError } from "../../http/errors.ts";
import { AUTHORIZATION_CODE_KEPT_FOR } from "../../limits.ts";
import { hasAccount } from "../organization_users/organization_users.sql.ts";
import type { RedeemedCode } from "./authorization_codes.schemas.ts";
import { redeemedCodeColumns } from "./authorization_codes.sql.ts";

/**
 * Consumes a code: if several requests send it at once, only one of them learns who signed in.
 *
 * @throws ApiError 401 if the code is unknown, used or expired, or its user has no account any more
 */
export async function redeemCode({ db, now }: Context, code: string): Promise<RedeemedCode> {
  const code_digest = await digest(code);
  const [consumed, [redeemed]] = await runBatch(db, [
    consumeCode({ code_digest, now }),
    redeemedCode({ code_digest }),
  ]);
  if (consumed.length === 0 || !redeemed) throw new ApiError(401, "Invalid code");
  return redeemed;
}

const consumeCode = namedQuery(({ code_digest, now }: Placeholders<{ code_digest: string; now: number }>) =>
  builder
    .update(authorizationCodes)
    .set({ used_at: sql`${now}` })
    .where(
      and(
        eq(authorizationCodes.code_digest, code_digest),
        isNull(authorizationCodes.used_at),
        gt(authorizationCodes.expires_at, now),
      ),
    )
    .returning({ id: authorizationCodes.id }),
);

const redeemedCode = namedQuery(({ code_digest }: Placeholders<{ code_digest: string }>) =>
  builder
    .select(redeemedCodeColumns)
    .from(authorizationCodes)
    .innerJoin(organizationUsers, eq(organizationUsers.id, authorizationCodes.organization_user_id))
    .innerJoin(users, eq(users.id, organizationUsers.user_id))
    .innerJoin(organizations, eq(organizations.id, authorizationCodes.organization_id))
    .where(and(eq(authorizationCodes.code_digest, code_digest), hasAccount(organizationUsers))),
);

/** Codes are many and soon worthless. One run deletes a portion of them. */
export async function deleteOldCodes({ db, now }: Context): Promise<number> {
  return (await runAll(db, deleteExpired({ before: now - AUTHORIZATION_CODE_KEPT_FOR }))).length;
}

const deleteExpired = namedCleanUp(authorizationCodes, authorizationCodes.expires_at);

import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { digest, randomSecret } from "../../database/digest.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { authorizationCodes, organizations, organizationUsers, users } from "../../database/schema.ts";
import { ApiError } from "../../http/errors.ts";
import {
  AUTHORIZATION_CODE_BYTES,
  AUTHORIZATION_CODE_KEPT_FOR,
  AUTHORIZATION_CODE_LIFETIME,
} from "../../limits.ts";
import type { RedeemedCode } from "./authorization_codes.schemas.ts";

/** A new code, and the statement that makes it valid, if the email is a user's of the organization. */
export async function createdAuthorizationCode(
  db: Database,
  now: number,
  { organization_id, email }: { organization_id: number; email: string },
) {
  const code = randomSecret(AUTHORIZATION_CODE_BYTES);
  const member = sql`
    from organization_users member join users on users.id = member.user_id
    where member.organization_id = ${organization_id} and users.email = ${email}`;
  const insert = insertFrom(db, authorizationCodes, member, ["organization_id"], {
    organization_user_id: sql`member.id`,
    code_digest: await digest(code),
    expires_at: now + AUTHORIZATION_CODE_LIFETIME,
    created_at: now,
  }).returning({ id: authorizationCodes.id });
  return { code, insert };
}

/**
 * Consumes a code: of however many requests at once, one is told who signed in.
 *
 * @throws ApiError 401 where the code is unknown, used or expired
 */
export async function redeemCode({ db, now }: Context, code: string): Promise<RedeemedCode> {
  const ofCode = eq(authorizationCodes.code_digest, await digest(code));
  const [consumed, [redeemed]] = await db.batch([
    db
      .update(authorizationCodes)
      .set({ used_at: now })
      .where(and(ofCode, isNull(authorizationCodes.used_at), gt(authorizationCodes.expires_at, now)))
      .returning({ id: authorizationCodes.id }),
    // Every column has a name of its own: a batch mixes up those of a join that share one (drizzle-orm#6038).
    db
      .select({
        organization_id: sql<number>`${organizations.id}`.as("organization_id"),
        organization_name: organizations.name,
        organization_slug: organizations.slug,
        user_id: sql<number>`${users.id}`.as("user_id"),
        email: users.email,
        display_name: organizationUsers.display_name,
        organization_user_id: sql<number>`${organizationUsers.id}`.as("organization_user_id"),
        roles: organizationUsers.roles,
      })
      .from(authorizationCodes)
      .innerJoin(organizationUsers, eq(organizationUsers.id, authorizationCodes.organization_user_id))
      .innerJoin(users, eq(users.id, organizationUsers.user_id))
      .innerJoin(organizations, eq(organizations.id, authorizationCodes.organization_id))
      .where(ofCode),
  ]);
  if (consumed.length === 0 || !redeemed) throw new ApiError(401, "Invalid code");
  return redeemed;
}

/** Codes are many and soon worthless. */
export async function deleteOldCodes({ db, now }: Context) {
  await db
    .delete(authorizationCodes)
    .where(lt(authorizationCodes.expires_at, now - AUTHORIZATION_CODE_KEPT_FOR));
}

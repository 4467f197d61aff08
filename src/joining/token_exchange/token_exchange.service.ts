import { and, eq, gt, isNull, notExists, sql } from "drizzle-orm";
import { accessEntries, entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { accessLogs } from "../../audit/access_logs/access_logs.table.ts";
import { digest, randomSecret } from "../../bytes/digest.ts";
import type { ClientContext } from "../../context.ts";
import { hasValues } from "../../database/expressions.ts";
import { type Placeholders, runAll, runBatch } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { dateOf } from "../../http/dates.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { AUTHORIZATION_CODE_LIFETIME, SIGN_IN_RECORDED_EVERY } from "../../lifetimes.ts";
import { AUTHORIZATION_CODE_BYTES } from "../../limits.ts";
import { issuersByName } from "../../organization/issuers/issuers.sql.ts";
import {
  accountByEmail,
  accountIdOf,
  newestFormerMember,
  type OfEmail,
} from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { countSignIns } from "../../organization/usage/usage.sql.ts";
import { insertAuthorizationCode } from "../authorization_codes/authorization_codes.sql.ts";
import { pendingInviteOf } from "../invites/invites.sql.ts";
import { checkReasonOf, invalidToken, inviteNotAccepted } from "./token_exchange.refusals.ts";
import type { TokenCheck } from "./token_exchange.responses.ts";
import { claimedIssuer, claimsOf, compactToken, verifiedEmail } from "./token_exchange.tokens.ts";

type SignIn = OfEmail & { by_client_id: number; since: number };

const signInEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(({ organization_id, email, by_client_id, since }: Placeholders<SignIn>) => {
  const recent = selectColumn(
    accessLogs.id,
    hasValues(accessLogs, {
      organization_id: organizationUsers.organization_id,
      organization_user_id: organizationUsers.id,
      api_client_id: by_client_id,
    }),
    gt(accessLogs.at, since),
    // Must repeat the partial index's WHERE, or SQLite does not use the index.
    sql`${accessLogs.event} = 'sign_in'`,
  );
  return and(eq(organizationUsers.id, accountIdOf(organization_id, email)), notExists(recent));
});

/** For an email without an account. */
const refusedSignInEntry = accessEntries(
  "organization_user",
  ({ organization_id, email }: Placeholders<OfEmail>) => ({
    organization_id: organizations.id,
    resource_id: null,
    from: organizations,
    where: and(eq(organizations.id, organization_id), isNull(accountIdOf(organization_id, email))),
  }),
);

/**
 * The batch that creates the code records it, so that there is no code without its entry. A repetition within a minute needs
 * none.
 *
 * @throws ApiError 401 if the token is invalid or its user has no access, 503 if the issuer's keys are unavailable
 */
export async function exchangeToken(context: ClientContext, text: string): Promise<string> {
  const { db, now, caller } = context;
  const { organization_id } = caller;
  const token = compactToken(text);
  // Read for every token, so that a deleted issuer is no longer trusted.
  const issuers = await runAll(db, issuersByName({ organization_id, issuer: claimedIssuer(token) }));
  if (issuers.length === 0) throw invalidToken("issuer_unknown");
  const { email, fault } = await verifiedEmail(token, issuers, now);
  const code = randomSecret(AUTHORIZATION_CODE_BYTES, context.shard);
  const [inserted, pending] = await runBatch(db, [
    insertAuthorizationCode({
      organization_id,
      email,
      code_digest: await digest(code),
      expires_at: now + AUTHORIZATION_CODE_LIFETIME,
      now,
    }),
    pendingInviteOf({ organization_id, email }),
    signInEntry(context, "sign_in", {
      organization_id,
      email,
      by_client_id: caller.api_client_id,
      since: now - SIGN_IN_RECORDED_EVERY,
    }),
    refusedSignInEntry(context, "sign_in_refused", { organization_id, email }),
    countSignIns({ organization_id, date: dateOf(now), count: 1 }),
  ]);
  if (inserted.length > 0) return code;
  if (pending.length > 0) throw inviteNotAccepted();
  throw invalidToken(fault);
}

/** For an administrator who sets up sign-in. Changes nothing. */
export async function checkToken(context: ClientContext, text: string): Promise<TokenCheck> {
  const { db, now, caller } = context;
  const organization_id = administeredOrganization(caller);
  const check: TokenCheck = {
    issuer: null,
    audience: null,
    email: null,
    organization_user_id: null,
    reason: null,
  };
  try {
    const token = compactToken(text);
    const issuer = claimedIssuer(token);
    const issuers = await runAll(db, issuersByName({ organization_id, issuer }));
    if (issuers.length === 0) throw invalidToken("issuer_unknown");
    Object.assign(check, { issuer, ...claimsOf(token, issuers) });
    const person = { organization_id, email: check.email ?? "" };
    const [[member], [former], [pending]] = await runBatch(db, [
      accountByEmail(person),
      newestFormerMember(person),
      pendingInviteOf(person),
    ]);
    check.organization_user_id = (member ?? former)?.id ?? null;
    const { email, fault } = await verifiedEmail(token, issuers, now);
    if (!email) throw invalidToken(fault);
    if (!member) check.reason = pending ? "invite_pending" : former ? "membership_ended" : "user_unknown";
  } catch (error) {
    check.reason = checkReasonOf(error);
  }
  return check;
}

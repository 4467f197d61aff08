import type { Caller } from "../../context.ts";
import { ROLES, SCOPES } from "../../database/enums.ts";
import { includesScope } from "../../http/scopes.ts";

type Limits = Pick<Caller, "scopes" | "expires_at">;

export type Rights = Limits & Pick<Caller, "roles">;

/** Also the rights of an organization_admin who signs in. */
export const ALL_RIGHTS: Rights = { roles: ROLES, scopes: null, expires_at: null };

/** Otherwise a key for one program, or for an hour, could be exchanged for a key or an account that can do everything. */
export const isWithin = (own: Limits, given: Limits): boolean =>
  (given.scopes ?? SCOPES).every((scope) => includesScope(own.scopes, scope)) &&
  (given.expires_at ?? Number.POSITIVE_INFINITY) <= (own.expires_at ?? Number.POSITIVE_INFINITY);

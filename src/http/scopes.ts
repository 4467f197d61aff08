import type { Context as HonoContext } from "hono";
import type { Caller } from "../context.ts";
import type { Role, Scope } from "../database/enums.ts";
import { ApiError } from "./errors.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

type AreaOf<Name> = Name extends `${infer Area}:${string}` ? Area : Name;

/** A part of the external API: `rooms` has the scopes `rooms:read` and `rooms:write`. */
export type Area = AreaOf<Scope>;

/**
 * A route's area, or its scope if the method does not say whether it reads; null for a route open to every client.
 *
 * @param roles the client's user must have one of them; none if the route is open to every role
 */
export const area = (name: Area | Scope | null, ...roles: Role[]) => declaring({ area: name, roles });

export const adminArea = (name: Area | Scope) => area(name, "organization_admin");

export function scopeOf(name: Area | Scope | null, method: string): Scope | null {
  if (name === null || name === "sign_in" || name.includes(":")) return name as Scope | null;
  return `${name}:${["GET", "HEAD"].includes(method) ? "read" : "write"}` as Scope;
}

/** A client without scopes may do everything. Write scopes include reading. */
export const includesScope = (scopes: readonly Scope[] | null, needed: Scope): boolean =>
  scopes === null || scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ":write") as Scope);

export const missingScope = (needed: Scope) =>
  new ApiError(
    403,
    "missing_scope",
    `This API client does not have the scope ${needed}: use a client that has it; an administrator can create one`,
  );

/**
 * @throws ApiError 403
 * @throws Error if the route declares no area, so that a forgotten declaration closes the route to everyone
 */
export function requireScope(c: HonoContext, { scopes }: Caller): void {
  const name = declarationOf<Area | Scope | null>(c, "area");
  if (name === undefined) throw new Error("The route declares no area: see http/scopes.ts");
  const needed = scopeOf(name, c.req.method);
  if (needed && !includesScope(scopes, needed)) throw missingScope(needed);
}

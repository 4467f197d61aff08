import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Role } from "../../database/enums.ts";

/** True where the roles, a JSON array, include this one. */
export const includesRole = (roles: SQLWrapper, role: Role): SQL =>
  sql`${role} in (select role.value from json_each(${roles}) as role)`;

/** True where the roles include one of those of `any`; both are JSON arrays. */
export const includesAnyRole = (roles: SQLWrapper, any: SQLWrapper): SQL =>
  sql`exists (select 1 from json_each(${roles}) as role join json_each(${any}) as named on named.value = role.value)`;

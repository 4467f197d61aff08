import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Role } from "../../database/enums.ts";
import type { Value } from "../../database/queries.ts";

/** @param roles a JSON array */
export const includesRole = (roles: SQLWrapper, role: Value<Role | null>): SQL =>
  sql`${role} in (select role.value from json_each(${roles}) as role)`;

/** Both are JSON arrays. */
export const includesAnyRole = (roles: SQLWrapper, any: SQLWrapper): SQL =>
  sql`exists (select 1 from json_each(${roles}) as role join json_each(${any}) as named on named.value = role.value)`;

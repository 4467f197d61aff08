import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Role } from "../../database/enums.ts";

/** True where the roles, a JSON array, include this one. */
export const includesRole = (roles: SQLWrapper, role: Role): SQL =>
  sql`${role} in (select role.value from json_each(${roles}) as role)`;

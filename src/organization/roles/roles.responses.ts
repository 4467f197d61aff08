import * as z from "zod";
import { ROLES } from "../../database/enums.ts";

export const roleList = () => z.array(z.enum(ROLES)).max(ROLES.length);

export const rolesSchema = z.object({
  roles: roleList().meta({ description: "The names of the roles, lowest first.", example: ROLES }),
});

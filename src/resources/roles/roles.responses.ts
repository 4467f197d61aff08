import * as z from "zod";
import { ROLES } from "../../database/enums.ts";

export const rolesSchema = z.object({ roles: z.array(z.enum(ROLES)) });

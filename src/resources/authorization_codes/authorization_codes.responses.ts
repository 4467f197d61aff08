import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import { emailAddress, id } from "../../http/wire.ts";

export const redeemedCodeSchema = z.object({
  organization: z.object({ id, name: z.string(), slug: z.string() }),
  user: z.object({ id, email: emailAddress, display_name: z.string() }),
  organization_user: z.object({ id, roles: z.array(z.enum(ROLES)) }),
});

import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import { emailAddress, id } from "../../http/wire.ts";

export const organizationUserSchema = z.object({
  id,
  user_id: id,
  email: emailAddress,
  display_name: z.string(),
  roles: z.array(z.enum(ROLES)),
});

export const createdUserSchema = organizationUserSchema.extend({
  organization_id: id,
  waiting_room_slug: z.string().nullable(),
});

export const userSchema = createdUserSchema.extend({ assists: z.array(id) });

import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import { emailAddress, id } from "../../http/wire.ts";

export const inviteSchema = z.object({
  id,
  email: emailAddress,
  display_name: z.string(),
  roles: z.array(z.enum(ROLES)),
  organization_id: id,
  organization_name: z.string(),
  expires_at: z.iso.datetime(),
  used_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const inviteWithAcceptUrlSchema = inviteSchema.extend({ accept_url: z.url() });

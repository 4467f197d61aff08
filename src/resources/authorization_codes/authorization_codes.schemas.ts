import * as z from "zod";
import { ROLES, type Role } from "../../database/enums.ts";
import { id } from "../../http/wire.ts";

export const redeemCodeBody = z.object({ code: z.string() });

export const redeemedCodeSchema = z.object({
  organization: z.object({ id, name: z.string(), slug: z.string() }),
  user: z.object({ id, email: z.email(), display_name: z.string() }),
  organization_user: z.object({ id, roles: z.array(z.enum(ROLES)) }),
});

export interface RedeemedCode {
  organization_id: number;
  organization_name: string;
  organization_slug: string;
  user_id: number;
  email: string;
  display_name: string;
  organization_user_id: number;
  roles: Role[];
}

export function toRedeemedCode(row: RedeemedCode): z.input<typeof redeemedCodeSchema> {
  return {
    organization: { id: row.organization_id, name: row.organization_name, slug: row.organization_slug },
    user: { id: row.user_id, email: row.email, display_name: row.display_name },
    organization_user: { id: row.organization_user_id, roles: row.roles },
  };
}

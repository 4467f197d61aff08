import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { emailAddress, id, reference } from "../../http/wire.ts";
import { MAX_TOKEN_LENGTH } from "../../limits.ts";
import type { redeemedCodeColumns } from "./authorization_codes.sql.ts";

export const redeemCodeBody = z.object({ code: reference(MAX_TOKEN_LENGTH) });

export const redeemedCodeSchema = z.object({
  organization: z.object({ id, name: z.string(), slug: z.string() }),
  user: z.object({ id, email: emailAddress, display_name: z.string() }),
  organization_user: z.object({ id, roles: z.array(z.enum(ROLES)) }),
});

export type RedeemedCode = Row<typeof redeemedCodeColumns>;

export function toRedeemedCode(row: RedeemedCode): z.input<typeof redeemedCodeSchema> {
  return {
    organization: { id: row.organization_id, name: row.organization_name, slug: row.organization_slug },
    user: { id: row.user_id, email: row.email, display_name: row.display_name },
    organization_user: { id: row.organization_user_id, roles: row.roles },
  };
}

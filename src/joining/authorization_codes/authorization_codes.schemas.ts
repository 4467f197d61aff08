import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { ApiError } from "../../http/errors.ts";
import { reference } from "../../http/wire.ts";
import { MAX_OWN_TOKEN_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import type { redeemedCodeSchema } from "./authorization_codes.responses.ts";
import type { redeemedCodeColumns } from "./authorization_codes.sql.ts";

export const redeemCodeBody = lazily(() => z.object({ code: reference(MAX_OWN_TOKEN_LENGTH) }));

export type RedeemCodeBody = z.output<ReturnType<typeof redeemCodeBody>>;

export type RedeemedCode = Row<typeof redeemedCodeColumns>;

export function toRedeemedCode(row: RedeemedCode): z.input<typeof redeemedCodeSchema> {
  return {
    organization: { id: row.organization_id, name: row.organization_name, slug: row.organization_slug },
    user: { id: row.organization_user_id, email: row.email, display_name: row.display_name },
    organization_user: { id: row.organization_user_id, roles: row.roles },
  };
}

export const invalidCode = () => new ApiError(401, "invalid_code", "Invalid code");

import * as z from "zod";
import { shardOfSecret } from "../../bytes/digest.ts";
import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody } from "../../http/validation.ts";
import { reference } from "../../http/wire.ts";
import { AUTHORIZATION_CODE_BYTES, MAX_OWN_TOKEN_LENGTH } from "../../limits.ts";
import type { redeemedCodeSchema } from "./authorization_codes.responses.ts";
import { invalidCode, type RedeemedCode, redeemCode } from "./authorization_codes.service.ts";

const redeemCodeBody = () => z.object({ code: reference(MAX_OWN_TOKEN_LENGTH) });

const toRedeemedCode = (row: RedeemedCode): z.input<typeof redeemedCodeSchema> => ({
  organization: { id: row.organization_id, name: row.organization_name, slug: row.organization_slug },
  user: { id: row.organization_user_id, email: row.email, display_name: row.display_name },
  organization_user: { id: row.organization_user_id, roles: row.roles },
});

export const authorizationCodesPlatform = platformRoutes().post(
  "/authorization_codes/redeem",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  jsonBody(redeemCodeBody),
  inOrganizationOf(async ({ code }: { code: string }, { shards }) => {
    const shard = shardOfSecret(code, AUTHORIZATION_CODE_BYTES);
    if (shards && !shards.numbers.includes(shard)) throw invalidCode();
    return { shard };
  }),
  async (c) => c.json(toRedeemedCode(await redeemCode(c.var.context, c.req.valid("json").code))),
);

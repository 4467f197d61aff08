import { shardOfSecret } from "../../bytes/digest.ts";
import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody } from "../../http/validation.ts";
import { AUTHORIZATION_CODE_BYTES } from "../../limits.ts";
import {
  invalidCode,
  type RedeemCodeBody,
  redeemCodeBody,
  toRedeemedCode,
} from "./authorization_codes.schemas.ts";
import { redeemCode } from "./authorization_codes.service.ts";

export const authorizationCodesPlatform = platformRoutes().post(
  "/authorization_codes/redeem",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  jsonBody(redeemCodeBody),
  inOrganizationOf(async ({ code }: RedeemCodeBody, { shards }) => {
    const shard = shardOfSecret(code, AUTHORIZATION_CODE_BYTES);
    if (shards && !shards.numbers.includes(shard)) throw invalidCode();
    return { shard };
  }),
  async (c) => c.json(toRedeemedCode(await redeemCode(c.var.context, c.req.valid("json").code))),
);

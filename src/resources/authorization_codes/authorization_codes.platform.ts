import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody } from "../../http/validation.ts";
import { redeemCodeBody, toRedeemedCode } from "./authorization_codes.schemas.ts";
import { redeemCode } from "./authorization_codes.service.ts";

export const authorizationCodesPlatform = platformRoutes().post(
  "/authorization_codes/redeem",
  jsonBody(redeemCodeBody),
  async (c) => c.json(toRedeemedCode(await redeemCode(c.var.context, c.req.valid("json").code))),
);

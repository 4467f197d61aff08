import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody } from "../../http/validation.ts";
import { type RedeemVisitBody, redeemVisitBody, toRedeemedVisit } from "./visits.schemas.ts";
import { redeemVisitLink } from "./visits.service.ts";
import { verifyVisitToken } from "./visits.tokens.ts";

export const visitsPlatform = platformRoutes().post(
  "/visits/redeem",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  jsonBody(redeemVisitBody),
  inOrganizationOf(async ({ token }: RedeemVisitBody, { settings }) => ({
    id: (await verifyVisitToken(settings, token)).organization_id,
  })),
  async (c) => c.json(toRedeemedVisit(await redeemVisitLink(c.var.context, c.req.valid("json").token))),
);

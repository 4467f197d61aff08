import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams, toReportedCall } from "../calls/calls.schemas.ts";
import { holdCallBody } from "./legal_holds.schemas.ts";
import { holdCall, releaseCall } from "./legal_holds.service.ts";

export const legalHoldsPlatform = platformRoutes()
  .put(
    "/organizations/:organization_id/calls/:key/legal_hold",
    params(callKeyParams),
    jsonBody(holdCallBody),
    async (c) => {
      const call = await holdCall(c.var.context, c.req.valid("param"), c.req.valid("json").legal_hold);
      return c.json(toReportedCall(call));
    },
  )
  .delete("/organizations/:organization_id/calls/:key/legal_hold", params(callKeyParams), async (c) => {
    await releaseCall(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });

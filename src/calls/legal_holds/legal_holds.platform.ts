import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams, toReportedCall } from "../calls/calls.schemas.ts";
import { holdCallBody } from "./legal_holds.schemas.ts";
import { holdCall, releaseCall } from "./legal_holds.service.ts";

const HOLD = "/organizations/:organization_id/calls/:key/legal_hold";

const byKey = params(callKeyParams);

export const legalHoldsPlatform = platformRoutes()
  .put(HOLD, byKey, jsonBody(holdCallBody), async (c) => {
    const call = await holdCall(c.var.context, c.req.valid("param"), c.req.valid("json").legal_hold);
    return c.json(toReportedCall(call));
  })
  .delete(HOLD, byKey, async (c) => {
    await releaseCall(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });

import { inCall } from "../../directory/in_place.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams, toReportedCall } from "../calls/calls.schemas.ts";
import { holdCallBody } from "./legal_holds.schemas.ts";
import { holdCall, releaseCall } from "./legal_holds.service.ts";

export const legalHoldsPlatform = platformRoutes()
  .put("/calls/:key/legal_hold", params(callKeyParams), jsonBody(holdCallBody), async (c) => {
    const call = await inCall(holdCall)(
      c.var.context,
      c.req.valid("param").key,
      c.req.valid("json").legal_hold,
    );
    return c.json(toReportedCall(call));
  })
  .delete("/calls/:key/legal_hold", params(callKeyParams), async (c) => {
    await inCall(releaseCall)(c.var.context, c.req.valid("param").key);
    return c.body(null, 204);
  });

import { externalRoutes, noContent } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { inReserve } from "../../http/quotas.ts";
import { adminArea } from "../../http/scopes.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams, callParams, toCallDetails, toReportedCall } from "../calls/calls.schemas.ts";
import { holdCallBody } from "./legal_holds.schemas.ts";
import { holdCall, holdOwnCall, releaseCall, releaseOwnCall } from "./legal_holds.service.ts";

const HOLD = "/organization_users/:organization_user_id/calls/:call_id/legal_hold";

const ofCall = params(callParams);

export const legalHoldsExternal = externalRoutes()
  .put(HOLD, adminArea("results"), ofCall, inReserve("others"), jsonBody(holdCallBody), async (c) => {
    const call = await holdOwnCall(c.var.context, c.req.valid("param"), c.req.valid("json").legal_hold);
    return c.json(toCallDetails(call));
  })
  .delete(HOLD, adminArea("results"), ofCall, (c) =>
    noContent(c, releaseOwnCall(c.var.context, c.req.valid("param"))),
  );

const REPORTED_HOLD = "/organizations/:organization_id/calls/:key/legal_hold";

const byKey = params(callKeyParams);

export const legalHoldsPlatform = platformRoutes()
  .put(REPORTED_HOLD, byKey, jsonBody(holdCallBody), async (c) => {
    const call = await holdCall(c.var.context, c.req.valid("param"), c.req.valid("json").legal_hold);
    return c.json(toReportedCall(call));
  })
  .delete(REPORTED_HOLD, byKey, (c) => noContent(c, releaseCall(c.var.context, c.req.valid("param"))));

import { inCall } from "../../directory/in_place.ts";
import { reportCallInPlace } from "../../directory/reports.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams, reportCallBody, toReportedCall } from "./calls.schemas.ts";
import { requireReportedCall } from "./calls.service.ts";

export const callsPlatform = platformRoutes()
  .get("/calls/:key", params(callKeyParams), async (c) =>
    c.json(toReportedCall(await inCall(requireReportedCall)(c.var.context, c.req.valid("param").key))),
  )
  .put("/calls/:key", params(callKeyParams), jsonBody(reportCallBody), async (c) => {
    const call = await reportCallInPlace(c.var.context, c.req.valid("param").key, c.req.valid("json").call);
    return c.json(toReportedCall(call));
  });

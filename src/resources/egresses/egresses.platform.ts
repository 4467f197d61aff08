import { inEgress } from "../../directory/in_place.ts";
import { reportEgressInPlace } from "../../directory/reports.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteEgress } from "./egresses.deletion.ts";
import { egressKeyParams, reportEgressBody, toEgress } from "./egresses.schemas.ts";

export const egressesPlatform = platformRoutes()
  .put("/egresses/:egress_id", params(egressKeyParams), jsonBody(reportEgressBody), async (c) => {
    const { egress_id } = c.req.valid("param");
    return c.json(toEgress(await reportEgressInPlace(c.var.context, egress_id, c.req.valid("json").egress)));
  })
  .delete("/egresses/:egress_id", params(egressKeyParams), async (c) => {
    await inEgress(deleteEgress)(c.var.context, c.req.valid("param").egress_id);
    return c.body(null, 204);
  });

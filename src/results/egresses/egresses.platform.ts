import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteEgress } from "../egress_deletions/egress_deletions.service.ts";
import { egressKeyParams, reportEgressBody, toEgress } from "./egresses.schemas.ts";
import { reportEgress } from "./egresses.service.ts";

const EGRESS = "/organizations/:organization_id/egresses/:egress_id";

const byKey = params(egressKeyParams);

export const egressesPlatform = platformRoutes()
  .put(EGRESS, openTo("PLATFORM_REPORTS_TOKEN"), byKey, jsonBody(reportEgressBody), async (c) => {
    const { egress, reported_at } = c.req.valid("json");
    const reported = await reportEgress(c.var.context, c.req.valid("param"), { ...egress, reported_at });
    return c.json(toEgress(reported));
  })
  .delete(EGRESS, byKey, async (c) => {
    await deleteEgress(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });

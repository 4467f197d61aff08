import { callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes, noContent } from "../../http/hono.ts";
import { itemsOfPage, onePageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { readsFrom } from "../../http/replication.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { deleteEgress, deleteOwnEgress } from "../egress_deletions/egress_deletions.service.ts";
import * as schemas from "./egresses.schemas.ts";
import { findEgresses, listEgresses, readEgress, reportEgress } from "./egresses.service.ts";

const ONE_EGRESS = "/organization_users/:organization_user_id/calls/:call_id/egresses/:id";

export const egressesExternal = externalRoutes()
  .get("/egresses", area("results"), recordedRead, query(schemas.egressesQuery), async (c) => {
    const { egresses, next_after } = await findEgresses(c.var.context, c.req.valid("query"));
    return c.json({ egresses: egresses.map(schemas.toListedEgress), next_after });
  })
  .get(
    "/organization_users/:organization_user_id/calls/:call_id/egresses",
    area("results"),
    readsFrom("primary"),
    params(callParams),
    query(onePageQuery),
    async (c) => {
      const rows = await listEgresses(c.var.context, c.req.valid("param"));
      return c.json({ egresses: itemsOfPage(rows, c.req.valid("query")).map(schemas.toEgress) });
    },
  )
  .get(ONE_EGRESS, area("results"), params(schemas.egressParams), recordedRead, async (c) => {
    const { id, ...call } = c.req.valid("param");
    return c.json(schemas.toEgressWithUrl(await readEgress(c.var.context, call, id)));
  })
  .delete(ONE_EGRESS, adminArea("results"), params(schemas.egressParams), (c) => {
    const { id, ...call } = c.req.valid("param");
    return noContent(c, deleteOwnEgress(c.var.context, call, id));
  });

const EGRESS = "/organizations/:organization_id/egresses/:egress_id";

const byKey = params(schemas.egressKeyParams);

export const egressesPlatform = platformRoutes()
  .put(EGRESS, openTo("PLATFORM_REPORTS_TOKEN"), byKey, jsonBody(schemas.reportEgressBody), async (c) => {
    const { egress, reported_at } = c.req.valid("json");
    const reported = await reportEgress(c.var.context, c.req.valid("param"), { ...egress, reported_at });
    return c.json(schemas.toEgress(reported));
  })
  .delete(EGRESS, byKey, (c) => noContent(c, deleteEgress(c.var.context, c.req.valid("param"))));

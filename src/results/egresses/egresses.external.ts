import { callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { itemsOfPage, onePageQuery } from "../../http/pagination.ts";
import { readsFrom } from "../../http/replication.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { params, query } from "../../http/validation.ts";
import { deleteOwnEgress } from "../egress_deletions/egress_deletions.service.ts";
import {
  egressesQuery,
  egressParams,
  toEgress,
  toEgressWithUrl,
  toListedEgress,
} from "./egresses.schemas.ts";
import { findEgresses, listEgresses, readEgress } from "./egresses.service.ts";

const ONE_EGRESS = "/organization_users/:organization_user_id/calls/:call_id/egresses/:id";

export const egressesExternal = externalRoutes()
  .get("/egresses", area("results"), recordedRead, query(egressesQuery), async (c) => {
    const { egresses, next_after } = await findEgresses(c.var.context, c.req.valid("query"));
    return c.json({ egresses: egresses.map(toListedEgress), next_after });
  })
  .get(
    "/organization_users/:organization_user_id/calls/:call_id/egresses",
    area("results"),
    readsFrom("primary"),
    params(callParams),
    query(onePageQuery),
    async (c) => {
      const rows = await listEgresses(c.var.context, c.req.valid("param"));
      return c.json({ egresses: itemsOfPage(rows, c.req.valid("query")).map(toEgress) });
    },
  )
  .get(ONE_EGRESS, area("results"), params(egressParams), recordedRead, async (c) => {
    const { id, ...call } = c.req.valid("param");
    return c.json(toEgressWithUrl(await readEgress(c.var.context, call, id)));
  })
  .delete(ONE_EGRESS, adminArea("results"), params(egressParams), async (c) => {
    const { id, ...call } = c.req.valid("param");
    await deleteOwnEgress(c.var.context, call, id);
    return c.body(null, 204);
  });

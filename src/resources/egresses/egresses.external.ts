import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { primaryOnly } from "../../http/replication.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { deleteOwnEgress } from "../egress_deletions/egress_deletions.service.ts";
import { egressParams, toEgress, toEgressWithUrl } from "./egresses.schemas.ts";
import { listEgresses, readEgress } from "./egresses.service.ts";

const ONE_EGRESS = "/organization_users/:organization_user_id/calls/:call_id/egresses/:id";

export const egressesExternal = externalRoutes()
  .get(
    "/organization_users/:organization_user_id/calls/:call_id/egresses",
    primaryOnly,
    params(callParams),
    async (c) => {
      const rows = await listEgresses(c.var.context, c.req.valid("param"));
      return c.json({ egresses: rows.map(toEgress) });
    },
  )
  .get(ONE_EGRESS, params(egressParams), recordedRead, async (c) => {
    const { id, ...call } = c.req.valid("param");
    return c.json(toEgressWithUrl(await readEgress(c.var.context, call, id)));
  })
  .delete(ONE_EGRESS, params(egressParams), async (c) => {
    const { id, ...call } = c.req.valid("param");
    await deleteOwnEgress(c.var.context, call, id);
    return c.body(null, 204);
  });

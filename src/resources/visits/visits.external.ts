import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { metricsQuery, readMetrics } from "../../http/metrics.ts";
import { nearestReplica } from "../../http/replication.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { createVisitBody, toVisit, toVisitMetrics, updateVisitBody, visitsQuery } from "./visits.schemas.ts";
import { cancelPlannedVisit, createVisit, listVisits, requireVisit, updateVisit } from "./visits.service.ts";
import { dailyVisits } from "./visits.sql.ts";

const byId = params(idParams);

export const visitsExternal = externalRoutes()
  .get("/visits", recordedRead, query(visitsQuery), async (c) => {
    const { visits, next_after } = await listVisits(c.var.context, c.req.valid("query"));
    return c.json({ visits: visits.map(toVisit), next_after });
  })
  .post("/visits", idempotent, jsonBody(createVisitBody), async (c) =>
    c.json(toVisit(await createVisit(c.var.context, c.req.valid("json").visit)), 201),
  )
  .get("/visits/:id", byId, recordedRead, async (c) =>
    c.json(toVisit(await requireVisit(c.var.context, c.req.valid("param").id))),
  )
  .put("/visits/:id", byId, recordedRead, jsonBody(updateVisitBody), async (c) => {
    const { id } = c.req.valid("param");
    return c.json(toVisit(await updateVisit(c.var.context, id, c.req.valid("json").visit)));
  })
  .delete("/visits/:id", byId, async (c) => {
    await cancelPlannedVisit(c.var.context, c.req.valid("param").id);
    return c.body(null, 204);
  })
  .get("/visit_metrics", nearestReplica, query(metricsQuery), async (c) =>
    c.json(toVisitMetrics(await readMetrics(c.var.context, c.req.valid("query"), dailyVisits))),
  );

import { recordedRead, recordedReadIf } from "../../http/acting_user.ts";
import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { IDEMPOTENCY_KEY, jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { metricsQuery, readMetrics } from "../../organization/metrics/metrics.ts";
import * as schemas from "./visits.schemas.ts";
import * as service from "./visits.service.ts";
import { dailyVisits } from "./visits.sql.ts";
import { verifyVisitToken } from "./visits.tokens.ts";

const byId = params(idParams);

/** A request repeated with its `Idempotency-Key` only shows the visit. */
const recordedReplay = recordedReadIf(({ req }) => req.header(IDEMPOTENCY_KEY) !== undefined);

export const visitsExternal = externalRoutes()
  .get("/visits", area("visits"), recordedRead, query(schemas.visitsQuery), async (c) => {
    const { visits, next_after } = await service.listVisits(c.var.context, c.req.valid("query"));
    return c.json({ visits: visits.map(schemas.toVisit), next_after });
  })
  .post("/visits", area("visits"), recordedReplay, idempotent, jsonBody(schemas.createVisitBody), async (c) =>
    c.json(schemas.toVisit(await service.createVisit(c.var.context, c.req.valid("json").visit)), 201),
  )
  .get("/visits/:id", area("visits"), byId, recordedRead, async (c) => {
    const visit = await service.requireVisit(c.var.context, c.req.valid("param").id);
    return c.json(schemas.toVisit(visit), 200, etagOf(visit));
  })
  .put(
    "/visits/:id",
    area("visits"),
    byId,
    recordedRead,
    conditional,
    jsonBody(schemas.updateVisitBody),
    async (c) => {
      const { id } = c.req.valid("param");
      const visit = await service.updateVisit(c.var.context, id, c.req.valid("json").visit);
      return c.json(schemas.toVisit(visit), 200, etagOf(visit));
    },
  )
  .delete("/visits/:id", area("visits"), byId, conditional, (c) =>
    noContent(c, service.cancelPlannedVisit(c.var.context, c.req.valid("param").id)),
  )
  .get("/visit_metrics", area("visits"), readsFrom("nearest"), query(metricsQuery), async (c) =>
    c.json(schemas.toVisitMetrics(await readMetrics(c.var.context, c.req.valid("query"), dailyVisits))),
  );

export const visitsPlatform = platformRoutes().post(
  "/visits/redeem",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  jsonBody(schemas.redeemVisitBody),
  inOrganizationOf(async ({ token }: schemas.RedeemVisitBody, { settings }) => ({
    id: (await verifyVisitToken(settings, token)).organization_id,
  })),
  async (c) =>
    c.json(schemas.toRedeemedVisit(await service.redeemVisitLink(c.var.context, c.req.valid("json").token))),
);

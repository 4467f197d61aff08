import { recordedRead } from "../../http/acting_user.ts";
import { costly } from "../../http/costly_requests.ts";
import { externalRoutes } from "../../http/hono.ts";
import { afterQuery } from "../../http/pagination.ts";
import { inReserve } from "../../http/quotas.ts";
import { adminArea } from "../../http/scopes.ts";
import { params, query } from "../../http/validation.ts";
import { sealedDayParams, toSeal } from "./access_log_seals.schemas.ts";
import { listSeals, openSealedDay } from "./access_log_seals.service.ts";

export const accessLogSealsExternal = externalRoutes()
  .get("/access_log_seals", adminArea("audit"), query(afterQuery), async (c) => {
    const { seals, next_after } = await listSeals(c.var.context, c.req.valid("query"));
    return c.json({ access_log_seals: seals.map(toSeal), next_after });
  })
  .get(
    "/access_logs/:date",
    adminArea("audit"),
    costly("access_logs"),
    params(sealedDayParams),
    inReserve("others"),
    recordedRead,
    async (c) => {
      const { date } = c.req.valid("param");
      const { body, size } = await openSealedDay(c.var.context, date);
      return c.body(body, 200, {
        "Content-Type": "application/gzip",
        "Content-Disposition": `attachment; filename="access-log-${date}.ndjson.gz"`,
        "Content-Length": String(size),
      });
    },
  );

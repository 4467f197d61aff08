import * as z from "zod";
import { recordedRead } from "../../http/acting_user.ts";
import { costly } from "../../http/costly_requests.ts";
import { externalRoutes, newHono } from "../../http/hono.ts";
import { afterQuery } from "../../http/pagination.ts";
import { inReserve } from "../../http/quotas.ts";
import { adminArea } from "../../http/scopes.ts";
import { params, query } from "../../http/validation.ts";
import { day } from "../../http/wire.ts";
import { PUBLIC_KEYS_KEPT_FOR } from "../../lifetimes.ts";
import { readSettings } from "../../settings.ts";
import { publishedKeys } from "./access_log_seals.keys.ts";
import type { accessLogSealSchema } from "./access_log_seals.responses.ts";
import { listSeals, openSealedDay } from "./access_log_seals.service.ts";
import type { Seal } from "./access_log_seals.sql.ts";

const sealedDayParams = () => z.object({ date: day() });

const toSeal = (row: Seal): z.input<typeof accessLogSealSchema> => ({
  date: row.date,
  count: row.count,
  first_id: row.first_id,
  last_id: row.last_id,
  sha256: row.sha256,
  previous: row.previous,
  jws: row.jws,
});

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

/** The public keys of the seals as a JWK Set (RFC 7517), without authentication. */
export const wellKnown = newHono<{ Bindings: Env }>().get("/jwks.json", async (c) => {
  const keys = await publishedKeys(readSettings(c.env));
  c.header("Cache-Control", `public, max-age=${PUBLIC_KEYS_KEPT_FOR}`);
  return c.json({ keys });
});

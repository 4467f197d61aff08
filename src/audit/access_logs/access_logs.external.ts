import { createMiddleware } from "hono/factory";
import { recordedRead } from "../../http/acting_user.ts";
import { inWantedType, wantedType } from "../../http/content_negotiation.ts";
import { type CostlyRequest, countCostly } from "../../http/costly_requests.ts";
import { type ExternalEnv, externalRoutes } from "../../http/hono.ts";
import { inReserve } from "../../http/quotas.ts";
import { adminArea } from "../../http/scopes.ts";
import { streamed } from "../../http/streams.ts";
import { query } from "../../http/validation.ts";
import { type AccessLog, accessLogsQuery, NDJSON, toAccessLog, toNdjson } from "./access_logs.schemas.ts";
import { exportAccessLogs, listAccessLogs } from "./access_logs.service.ts";

const limited: CostlyRequest = "access_logs";

/** Only NDJSON counts as costly: JSON pages are as cheap as those of other lists. */
const costlyAsNdjson = Object.assign(
  createMiddleware<ExternalEnv>(async (c, next) => {
    if (wantedType(c, ["application/json", NDJSON]) === NDJSON) await countCostly(c, limited);
    await next();
  }),
  { limited },
);

export const accessLogsExternal = externalRoutes().get(
  "/access_logs",
  adminArea("audit"),
  costlyAsNdjson,
  inReserve("others"),
  recordedRead,
  query(accessLogsQuery),
  (c) =>
    inWantedType(c, {
      "application/json": async () => {
        const { access_logs, next_after } = await listAccessLogs(c.var.context, c.req.valid("query"));
        return c.json({ access_logs: access_logs.map(toAccessLog), next_after });
      },
      [NDJSON]: async () => {
        const { pages, next_after } = await exportAccessLogs(c.var.context, c.req.valid("query"));
        const headers = { "Content-Type": NDJSON, ...(next_after && { "X-Next-After": String(next_after) }) };
        return streamed(c, linesOf(pages), headers);
      },
    }),
);

async function* linesOf(pages: AsyncIterable<AccessLog[]>): AsyncGenerator<string> {
  for await (const page of pages) yield* toNdjson(page);
}

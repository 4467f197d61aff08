import type { Context as HonoContext } from "hono";
import { NDJSON } from "../../audit/access_logs/access_logs.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { costly } from "../../http/costly_requests.ts";
import { type ExternalEnv, externalRoutes } from "../../http/hono.ts";
import { countPart } from "../../http/rate_limits.ts";
import { adminArea } from "../../http/scopes.ts";
import { streamed } from "../../http/streams.ts";
import { query } from "../../http/validation.ts";
import { exportQuery, toExportText } from "./participant_exports.schemas.ts";
import { exportParticipant } from "./participant_exports.service.ts";

export const participantExportsExternal = externalRoutes().get(
  "/participants/export",
  adminArea("results"),
  costly("access_logs"),
  recordedRead,
  query(exportQuery),
  async (c) => {
    const lines = await exportParticipant(c.var.context, c.req.valid("query"));
    return streamed(c, countCalls(c, toExportText(lines)), { "Content-Type": NDJSON });
  },
);

/** Each call counts like a request for it. */
async function* countCalls(c: HonoContext<ExternalEnv>, lines: ReturnType<typeof toExportText>) {
  for await (const { type, text } of lines) {
    if (type === "call") await countPart(c, c.var.context, text.length);
    yield text;
  }
}

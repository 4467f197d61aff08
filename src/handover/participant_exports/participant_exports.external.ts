import { NDJSON } from "../../audit/access_logs/access_logs.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { costly } from "../../http/costly_requests.ts";
import { externalRoutes } from "../../http/hono.ts";
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
    const { context } = c.var;
    const lines = await exportParticipant(context, c.req.valid("query"));
    // Each call counts like a request for it.
    const text = toExportText(lines, (call) => countPart(c, context, call.length));
    return streamed(c, text, { "Content-Type": NDJSON });
  },
);

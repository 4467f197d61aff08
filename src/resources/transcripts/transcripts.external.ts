import { externalRoutes } from "../../http/external_api.ts";
import { nearestReplica } from "../../http/replication.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toTranscript } from "./transcripts.schemas.ts";
import { requireTranscript } from "./transcripts.service.ts";

export const transcriptsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/transcript",
  nearestReplica,
  params(callParams),
  async (c) => c.json(toTranscript(await requireTranscript(c.var.context, c.req.valid("param")))),
);

import { callKeyParams } from "../../calls/calls/calls.schemas.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { inChunks, JSON_TYPE, streamed } from "../../http/streams.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteText } from "../call_texts/call_texts.service.ts";
import { reportTranscriptBody, toTranscriptJson } from "./transcripts.schemas.ts";
import { reportTranscript } from "./transcripts.service.ts";

const TRANSCRIPT = "/organizations/:organization_id/calls/:key/transcript";

const byKey = params(callKeyParams);

export const transcriptsPlatform = platformRoutes()
  .put(TRANSCRIPT, openTo("PLATFORM_REPORTS_TOKEN"), byKey, jsonBody(reportTranscriptBody), async (c) => {
    const { transcript, reported_at } = c.req.valid("json");
    const report = { ...transcript, reported_at };
    const reported = await reportTranscript(c.var.context, c.req.valid("param"), report);
    return streamed(c, inChunks(toTranscriptJson(reported)), JSON_TYPE);
  })
  .delete(TRANSCRIPT, byKey, async (c) => {
    await deleteText(c.var.context, c.req.valid("param"), "transcript");
    return c.body(null, 204);
  });

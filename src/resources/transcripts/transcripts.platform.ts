import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteTranscript } from "../call_texts/call_texts.service.ts";
import { callKeyParams } from "../calls/calls.schemas.ts";
import { reportTranscriptBody, toTranscript } from "./transcripts.schemas.ts";
import { reportTranscript } from "./transcripts.service.ts";

export const transcriptsPlatform = platformRoutes()
  .put(
    "/organizations/:organization_id/calls/:key/transcript",
    params(callKeyParams),
    jsonBody(reportTranscriptBody),
    async (c) => {
      const transcript = await reportTranscript(
        c.var.context,
        c.req.valid("param"),
        c.req.valid("json").transcript,
      );
      return c.json(toTranscript(transcript));
    },
  )
  .delete("/organizations/:organization_id/calls/:key/transcript", params(callKeyParams), async (c) => {
    await deleteTranscript(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });

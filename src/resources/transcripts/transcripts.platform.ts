import { inCall } from "../../directory/in_place.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams } from "../calls/calls.schemas.ts";
import { reportTranscriptBody, toTranscript } from "./transcripts.schemas.ts";
import { deleteTranscript, reportTranscript } from "./transcripts.service.ts";

export const transcriptsPlatform = platformRoutes()
  .put("/calls/:key/transcript", params(callKeyParams), jsonBody(reportTranscriptBody), async (c) => {
    const transcript = await inCall(reportTranscript)(
      c.var.context,
      c.req.valid("param").key,
      c.req.valid("json").transcript,
    );
    return c.json(toTranscript(transcript));
  })
  .delete("/calls/:key/transcript", params(callKeyParams), async (c) => {
    await inCall(deleteTranscript)(c.var.context, c.req.valid("param").key);
    return c.body(null, 204);
  });

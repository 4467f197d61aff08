import { recordedRead } from "../../http/acting_user.ts";
import { inWantedType } from "../../http/content_negotiation.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toTranscript } from "./transcripts.schemas.ts";
import { requireTranscript } from "./transcripts.service.ts";
import { toWebVtt } from "./transcripts.webvtt.ts";

export const transcriptsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/transcript",
  params(callParams),
  recordedRead,
  async (c) => {
    const transcript = await requireTranscript(c.var.context, c.req.valid("param"));
    return inWantedType(c, {
      "application/json": () => c.json(toTranscript(transcript)),
      // WebVTT is always UTF-8, but some clients take a text without a charset for Latin-1.
      "text/vtt": () => c.body(toWebVtt(transcript), 200, { "Content-Type": "text/vtt; charset=utf-8" }),
    });
  },
);

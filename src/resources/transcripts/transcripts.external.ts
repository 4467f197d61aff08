import { recordedRead } from "../../http/acting_user.ts";
import { inWantedType } from "../../http/content_negotiation.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { answerInTurn } from "../../http/large_answers.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { type TranscriptWithLines, toTranscriptJson } from "./transcripts.schemas.ts";
import { requireTranscript } from "./transcripts.service.ts";
import { toWebVtt } from "./transcripts.webvtt.ts";

export const transcriptsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/transcript",
  params(callParams),
  recordedRead,
  (c) => {
    const answerWith = (toParts: (transcript: TranscriptWithLines) => Iterable<string>, type: string) =>
      answerInTurn(c, async () => {
        const transcript = await requireTranscript(c.var.context, c.req.valid("param"));
        return { parts: toParts(transcript), headers: { "Content-Type": type } };
      });
    return inWantedType(c, {
      "application/json": () => answerWith(toTranscriptJson, "application/json"),
      // WebVTT is always UTF-8, but some clients take a text without a charset for Latin-1.
      "text/vtt": () => answerWith(toWebVtt, "text/vtt; charset=utf-8"),
    });
  },
);

import { callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { inWantedType } from "../../http/content_negotiation.ts";
import { externalRoutes } from "../../http/hono.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { countAnswerLength } from "../../http/rate_limits.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { inChunks, streamed } from "../../http/streams.ts";
import { params } from "../../http/validation.ts";
import { deleteOwnText } from "../call_texts/call_texts.service.ts";
import { lengthOf, type TranscriptWithLines, toTranscriptJson } from "./transcripts.schemas.ts";
import { requireTranscript } from "./transcripts.service.ts";
import { toWebVtt } from "./transcripts.webvtt.ts";

const TRANSCRIPT = "/organization_users/:organization_user_id/calls/:call_id/transcript";

const ofCall = params(callParams);

export const transcriptsExternal = externalRoutes()
  .get(TRANSCRIPT, area("results"), ofCall, recordedRead, (c) => {
    async function answerWith(toParts: (transcript: TranscriptWithLines) => Iterable<string>, type: string) {
      const transcript = await requireTranscript(c.var.context, c.req.valid("param"));
      await countAnswerLength(c, c.var.context, lengthOf(transcript));
      return streamed(c, inChunks(toParts(transcript)), { "Content-Type": type, ...etagOf(transcript) });
    }
    return inWantedType(c, {
      "application/json": () => answerWith(toTranscriptJson, "application/json"),
      // WebVTT is always UTF-8, but some clients read text without a charset as Latin-1.
      "text/vtt": () => answerWith(toWebVtt, "text/vtt; charset=utf-8"),
    });
  })
  .delete(TRANSCRIPT, adminArea("results"), ofCall, conditional, async (c) => {
    await deleteOwnText(c.var.context, c.req.valid("param"), "transcript");
    return c.body(null, 204);
  });

import { callKeyParams, callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { inWantedType } from "../../http/content_negotiation.ts";
import { externalRoutes, noContent } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { countAnswerLength } from "../../http/rate_limits.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { inChunks, JSON_TYPE, streamed } from "../../http/streams.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { deleteOwnText, deleteText } from "../call_texts/call_texts.service.ts";
import * as schemas from "./transcripts.schemas.ts";
import { reportTranscript, requireTranscript } from "./transcripts.service.ts";
import { toWebVtt } from "./transcripts.webvtt.ts";

const TRANSCRIPT = "/organization_users/:organization_user_id/calls/:call_id/transcript";

const ofCall = params(callParams);

export const transcriptsExternal = externalRoutes()
  .get(TRANSCRIPT, area("results"), ofCall, recordedRead, query(schemas.transcriptQuery), (c) => {
    async function answerWith(
      toParts: (transcript: schemas.TranscriptWithLines) => Iterable<string>,
      type: string,
    ) {
      const transcript = await requireTranscript(c.var.context, c.req.valid("param"), c.req.valid("query"));
      await countAnswerLength(c, c.var.context, schemas.lengthOf(transcript));
      return streamed(c, inChunks(toParts(transcript)), { "Content-Type": type, ...etagOf(transcript) });
    }
    return inWantedType(c, {
      "application/json": () => answerWith(schemas.toTranscriptJson, "application/json"),
      // WebVTT is always UTF-8, but some clients read text without a charset as Latin-1.
      "text/vtt": () => answerWith(toWebVtt, "text/vtt; charset=utf-8"),
    });
  })
  .delete(TRANSCRIPT, adminArea("results"), ofCall, conditional, (c) =>
    noContent(c, deleteOwnText(c.var.context, c.req.valid("param"), "transcript")),
  );

const REPORTED_TRANSCRIPT = "/organizations/:organization_id/calls/:key/transcript";

const byKey = params(callKeyParams);

export const transcriptsPlatform = platformRoutes()
  .put(
    REPORTED_TRANSCRIPT,
    openTo("PLATFORM_REPORTS_TOKEN"),
    byKey,
    jsonBody(schemas.reportTranscriptBody),
    async (c) => {
      const { transcript, reported_at } = c.req.valid("json");
      const report = { ...transcript, reported_at };
      const reported = await reportTranscript(c.var.context, c.req.valid("param"), report);
      return streamed(c, inChunks(schemas.toTranscriptJson(reported)), JSON_TYPE);
    },
  )
  .delete(REPORTED_TRANSCRIPT, byKey, (c) =>
    noContent(c, deleteText(c.var.context, c.req.valid("param"), "transcript")),
  );

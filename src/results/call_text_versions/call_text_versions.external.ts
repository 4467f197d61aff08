import { callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { countAnswerLength } from "../../http/rate_limits.ts";
import { area } from "../../http/scopes.ts";
import { inChunks, JSON_TYPE, streamed } from "../../http/streams.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { CORRECTION_BODY_LIMIT } from "../../limits.ts";
import { CORRECTORS } from "../../organization/roles/roles.policy.ts";
import { toSoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { lengthOf, toTranscriptJson } from "../transcripts/transcripts.schemas.ts";
import * as schemas from "./call_text_versions.schemas.ts";
import * as service from "./call_text_versions.service.ts";

const CALL = "/organization_users/:organization_user_id/calls/:call_id";

const ofCall = params(callParams);

export const callTextVersionsExternal = externalRoutes()
  .put(
    `${CALL}/soap_note`,
    area("results", ...CORRECTORS),
    ofCall,
    recordedRead,
    conditional,
    jsonBody(schemas.correctSoapNoteBody, { limit: CORRECTION_BODY_LIMIT }),
    async (c) => {
      const note = await service.correctSoapNote(
        c.var.context,
        c.req.valid("param"),
        c.req.valid("json").soap_note,
      );
      return c.json(toSoapNote(note), 200, etagOf(note));
    },
  )
  .get(`${CALL}/soap_note/versions`, area("results", ...CORRECTORS), ofCall, recordedRead, async (c) => {
    const { note, versions } = await service.listSoapNoteVersions(c.var.context, c.req.valid("param"));
    await countAnswerLength(c, c.var.context, note.replaced_size);
    return streamed(c, inChunks(schemas.toSoapNoteVersionsJson(note, versions)), JSON_TYPE);
  })
  .put(
    `${CALL}/transcript`,
    area("results", ...CORRECTORS),
    ofCall,
    recordedRead,
    conditional,
    jsonBody(schemas.correctTranscriptBody, { limit: CORRECTION_BODY_LIMIT }),
    async (c) => {
      const { transcript } = c.req.valid("json");
      const corrected = await service.correctTranscript(c.var.context, c.req.valid("param"), transcript);
      await countAnswerLength(c, c.var.context, lengthOf(corrected));
      return streamed(c, inChunks(toTranscriptJson(corrected)), { ...JSON_TYPE, ...etagOf(corrected) });
    },
  )
  .get(
    `${CALL}/transcript/versions`,
    area("results", ...CORRECTORS),
    ofCall,
    recordedRead,
    query(schemas.transcriptVersionsQuery),
    async (c) => {
      const versions = await service.listTranscriptVersions(c.var.context, c.req.valid("param"));
      await countAnswerLength(c, c.var.context, schemas.lengthOfVersions(versions));
      return streamed(
        c,
        inChunks(schemas.toTranscriptVersionsJson(versions, c.req.valid("query"))),
        JSON_TYPE,
      );
    },
  );

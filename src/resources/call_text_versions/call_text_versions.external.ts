import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { answerInTurn } from "../../http/large_answers.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { CORRECTION_BODY_LIMIT } from "../../limits.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toSoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { toTranscriptJson } from "../transcripts/transcripts.schemas.ts";
import {
  correctSoapNoteBody,
  correctTranscriptBody,
  toSoapNoteVersionsJson,
  toTranscriptVersionsJson,
} from "./call_text_versions.schemas.ts";
import {
  correctSoapNote,
  correctTranscript,
  listSoapNoteVersions,
  listTranscriptVersions,
} from "./call_text_versions.service.ts";

const CALL = "/organization_users/:organization_user_id/calls/:call_id";

const ofCall = params(callParams);

const JSON_TYPE = { "Content-Type": "application/json" };

export const callTextVersionsExternal = externalRoutes()
  .put(
    `${CALL}/soap_note`,
    ofCall,
    recordedRead,
    jsonBody(correctSoapNoteBody, CORRECTION_BODY_LIMIT),
    async (c) => {
      const note = await correctSoapNote(c.var.context, c.req.valid("param"), c.req.valid("json").soap_note);
      return c.json(toSoapNote(note));
    },
  )
  .get(`${CALL}/soap_note/versions`, ofCall, recordedRead, (c) =>
    answerInTurn(c, async () => {
      const versions = await listSoapNoteVersions(c.var.context, c.req.valid("param"));
      return { parts: toSoapNoteVersionsJson(versions), headers: JSON_TYPE };
    }),
  )
  .put(
    `${CALL}/transcript`,
    ofCall,
    recordedRead,
    jsonBody(correctTranscriptBody, CORRECTION_BODY_LIMIT),
    (c) =>
      answerInTurn(c, async () => {
        const { transcript } = c.req.valid("json");
        const corrected = await correctTranscript(c.var.context, c.req.valid("param"), transcript);
        return { parts: toTranscriptJson(corrected), headers: JSON_TYPE };
      }),
  )
  .get(`${CALL}/transcript/versions`, ofCall, recordedRead, (c) =>
    answerInTurn(c, async () => {
      const versions = await listTranscriptVersions(c.var.context, c.req.valid("param"));
      return { parts: toTranscriptVersionsJson(versions), headers: JSON_TYPE };
    }),
  );

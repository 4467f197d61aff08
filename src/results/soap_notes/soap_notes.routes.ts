import { callKeyParams, callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes, noContent } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteOwnText, deleteText } from "../call_texts/call_texts.service.ts";
import { reportSoapNoteBody, toSoapNote } from "./soap_notes.schemas.ts";
import { reportSoapNote, requireSoapNote } from "./soap_notes.service.ts";

const SOAP_NOTE = "/organization_users/:organization_user_id/calls/:call_id/soap_note";

const ofCall = params(callParams);

export const soapNotesExternal = externalRoutes()
  .get(SOAP_NOTE, area("results"), ofCall, recordedRead, async (c) => {
    const note = await requireSoapNote(c.var.context, c.req.valid("param"));
    return c.json(toSoapNote(note), 200, etagOf(note));
  })
  .delete(SOAP_NOTE, adminArea("results"), ofCall, conditional, (c) =>
    noContent(c, deleteOwnText(c.var.context, c.req.valid("param"), "soap_note")),
  );

const REPORTED_SOAP_NOTE = "/organizations/:organization_id/calls/:key/soap_note";

const byKey = params(callKeyParams);

export const soapNotesPlatform = platformRoutes()
  .put(
    REPORTED_SOAP_NOTE,
    openTo("PLATFORM_REPORTS_TOKEN"),
    byKey,
    jsonBody(reportSoapNoteBody),
    async (c) => {
      const { soap_note, reported_at } = c.req.valid("json");
      const report = { ...soap_note, reported_at };
      return c.json(toSoapNote(await reportSoapNote(c.var.context, c.req.valid("param"), report)));
    },
  )
  .delete(REPORTED_SOAP_NOTE, byKey, (c) =>
    noContent(c, deleteText(c.var.context, c.req.valid("param"), "soap_note")),
  );

import { callKeyParams } from "../../calls/calls/calls.schemas.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteText } from "../call_texts/call_texts.service.ts";
import { reportSoapNoteBody, toSoapNote } from "./soap_notes.schemas.ts";
import { reportSoapNote } from "./soap_notes.service.ts";

const SOAP_NOTE = "/organizations/:organization_id/calls/:key/soap_note";

const byKey = params(callKeyParams);

export const soapNotesPlatform = platformRoutes()
  .put(SOAP_NOTE, openTo("PLATFORM_REPORTS_TOKEN"), byKey, jsonBody(reportSoapNoteBody), async (c) => {
    const { soap_note, reported_at } = c.req.valid("json");
    const report = { ...soap_note, reported_at };
    return c.json(toSoapNote(await reportSoapNote(c.var.context, c.req.valid("param"), report)));
  })
  .delete(SOAP_NOTE, byKey, async (c) => {
    await deleteText(c.var.context, c.req.valid("param"), "soap_note");
    return c.body(null, 204);
  });

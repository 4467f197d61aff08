import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { deleteSoapNote } from "../call_texts/call_texts.service.ts";
import { callKeyParams } from "../calls/calls.schemas.ts";
import { reportSoapNoteBody, toSoapNote } from "./soap_notes.schemas.ts";
import { reportSoapNote } from "./soap_notes.service.ts";

export const soapNotesPlatform = platformRoutes()
  .put(
    "/organizations/:organization_id/calls/:key/soap_note",
    params(callKeyParams),
    jsonBody(reportSoapNoteBody),
    async (c) => {
      const note = await reportSoapNote(c.var.context, c.req.valid("param"), c.req.valid("json").soap_note);
      return c.json(toSoapNote(note));
    },
  )
  .delete("/organizations/:organization_id/calls/:key/soap_note", params(callKeyParams), async (c) => {
    await deleteSoapNote(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });

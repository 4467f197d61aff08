import { inCall } from "../../directory/in_place.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { callKeyParams } from "../calls/calls.schemas.ts";
import { reportSoapNoteBody, toSoapNote } from "./soap_notes.schemas.ts";
import { deleteSoapNote, reportSoapNote } from "./soap_notes.service.ts";

export const soapNotesPlatform = platformRoutes()
  .put("/calls/:key/soap_note", params(callKeyParams), jsonBody(reportSoapNoteBody), async (c) => {
    const note = await inCall(reportSoapNote)(
      c.var.context,
      c.req.valid("param").key,
      c.req.valid("json").soap_note,
    );
    return c.json(toSoapNote(note));
  })
  .delete("/calls/:key/soap_note", params(callKeyParams), async (c) => {
    await inCall(deleteSoapNote)(c.var.context, c.req.valid("param").key);
    return c.body(null, 204);
  });

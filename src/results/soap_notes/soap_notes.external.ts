import { callParams } from "../../calls/calls/calls.schemas.ts";
import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { params } from "../../http/validation.ts";
import { deleteOwnText } from "../call_texts/call_texts.service.ts";
import { toSoapNote } from "./soap_notes.schemas.ts";
import { requireSoapNote } from "./soap_notes.service.ts";

const SOAP_NOTE = "/organization_users/:organization_user_id/calls/:call_id/soap_note";

const ofCall = params(callParams);

export const soapNotesExternal = externalRoutes()
  .get(SOAP_NOTE, area("results"), ofCall, recordedRead, async (c) => {
    const note = await requireSoapNote(c.var.context, c.req.valid("param"));
    return c.json(toSoapNote(note), 200, etagOf(note));
  })
  .delete(SOAP_NOTE, adminArea("results"), ofCall, conditional, async (c) => {
    await deleteOwnText(c.var.context, c.req.valid("param"), "soap_note");
    return c.body(null, 204);
  });

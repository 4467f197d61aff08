import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toSoapNote } from "./soap_notes.schemas.ts";
import { requireSoapNote } from "./soap_notes.service.ts";

export const soapNotesExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/soap_note",
  params(callParams),
  recordedRead,
  async (c) => c.json(toSoapNote(await requireSoapNote(c.var.context, c.req.valid("param")))),
);

import { eq, getTableColumns } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { soapNotes } from "../../database/schema.ts";
import { callText } from "../call_texts/call_texts.sql.ts";
import { endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export const soapNoteText = callText("soap_note", soapNotes);

export const soapNoteOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(getTableColumns(soapNotes))
    .from(soapNotes)
    .where(eq(soapNotes.call_id, endedCallId(call))),
);

import { eq, getTableColumns } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { soapNotes } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { textEntries } from "../calls/calls.entries.ts";
import { type CallKey, callIdByKey, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export const soapNoteColumns = getTableColumns(soapNotes);

export const soapNoteWrites = tableWrites(soapNotes, soapNoteColumns);

export const soapNoteOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(soapNoteColumns)
    .from(soapNotes)
    .where(eq(soapNotes.call_id, endedCallId(call))),
);

export const soapNoteByCallKey = preparedQuery((call: Placeholders<CallKey>) =>
  builder
    .select(soapNoteColumns)
    .from(soapNotes)
    .where(eq(soapNotes.call_id, callIdByKey(call))),
);

export const soapNoteEntries = textEntries("soap_note", soapNotes);

/** A trigger refuses it without its entry of the access log. */
export const deleteSoapNoteOf = preparedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  builder.delete(soapNotes).where(eq(soapNotes.call_id, call_id)),
);

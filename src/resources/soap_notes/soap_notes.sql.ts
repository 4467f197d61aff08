import { eq, getTableColumns } from "drizzle-orm";
import { builder, namedQuery, type Placeholders } from "../../database/queries.ts";
import { soapNotes } from "../../database/schema.ts";
import { callIdByKey, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export const soapNoteColumns = getTableColumns(soapNotes);

export const soapNoteOfPath = namedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(soapNoteColumns)
    .from(soapNotes)
    .where(eq(soapNotes.call_id, endedCallId(call))),
);

export const soapNoteByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder
    .select(soapNoteColumns)
    .from(soapNotes)
    .where(eq(soapNotes.call_id, callIdByKey(key))),
);

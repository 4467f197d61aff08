import { eq } from "drizzle-orm";
import { scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { calls, egresses, soapNotes, transcripts } from "../../database/schema.ts";
import { consentedCallId } from "../egresses/egresses.sql.ts";
import { callColumns, callWithinReach, type ReachedCall } from "./calls.sql.ts";

/** Selects whether the text of the call is final; null where there is none. */
const isFinal = (table: typeof transcripts | typeof soapNotes) =>
  scalar(builder.select({ is_final: table.is_final }).from(table).where(eq(table.call_id, calls.id))).mapWith(
    table.is_final,
  );

/** What says of a call how far its results are. */
export const resultColumns = {
  transcript_is_final: isFinal(transcripts).as("transcript_is_final"),
  soap_note_is_final: isFinal(soapNotes).as("soap_note_is_final"),
};

/** The call of the path with what there is of its results: of its recordings, the number that their list shows. */
export const callWithResults = preparedQuery((call: Placeholders<ReachedCall>) => {
  const recordings = builder.$count(egresses, eq(egresses.call_id, consentedCallId(call)));
  return builder
    .select({ ...callColumns, ...resultColumns, egress_count: recordings.as("egress_count") })
    .from(calls)
    .where(callWithinReach(call));
});

import { asc, eq, getTableColumns } from "drizzle-orm";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { participants, transcriptLines, transcripts } from "../../database/schema.ts";
import { callIdByKey, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export const transcriptColumns = getTableColumns(transcripts);

/** A line and who speaks, by the name that the participant has now. */
export const transcriptLineColumns = {
  id: transcriptLines.id,
  text: transcriptLines.text,
  start_time: transcriptLines.start_time,
  end_time: transcriptLines.end_time,
  display_name: participants.display_name,
};

const transcriptOf = (callId: Value<number>) =>
  builder.select(transcriptColumns).from(transcripts).where(eq(transcripts.call_id, callId));

/** Selects the lines of a call's transcript, in order. */
const linesOf = (callId: Value<number>) =>
  builder
    .select(transcriptLineColumns)
    .from(transcriptLines)
    .innerJoin(participants, eq(participants.id, transcriptLines.participant_id))
    .where(eq(transcriptLines.transcript_id, transcriptIdOf(callId)))
    .orderBy(asc(transcriptLines.start_time), asc(transcriptLines.end_time), asc(transcriptLines.id));

/** Selects the id of a call's transcript. */
export const transcriptIdOf = (callId: Value<number>) =>
  builder.select({ id: transcripts.id }).from(transcripts).where(eq(transcripts.call_id, callId));

export const transcriptOfPath = namedQuery((call: Placeholders<ReachedCall>) =>
  transcriptOf(endedCallId(call)),
);

export const linesOfPath = namedQuery((call: Placeholders<ReachedCall>) => linesOf(endedCallId(call)));

export const transcriptByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  transcriptOf(callIdByKey(key)),
);

export const linesByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  linesOf(callIdByKey(key)),
);

/** Those on the call, who can speak. */
export const speakersByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder
    .select({ id: participants.id, key: participants.key })
    .from(participants)
    .where(eq(participants.call_id, callIdByKey(key)))
    .orderBy(participants.id),
);

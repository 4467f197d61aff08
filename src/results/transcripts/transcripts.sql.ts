import { and, eq, exists, gt, isNotNull, sql } from "drizzle-orm";
import {
  type CallKey,
  callIdByKey,
  callIdOfPath,
  endedCallId,
  type ReachedCall,
} from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { isRecordOf } from "../../calls/participants/participants.sql.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { sequences } from "../../database/database.table.ts";
import { coalesce } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { people } from "../../rooms/people/people.table.ts";
import * as texts from "../call_texts/call_texts.sql.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";
import { type ReachedEgress, visibleEgress } from "../egresses/egresses.sql.ts";
import { egresses } from "../egresses/egresses.table.ts";
import { type Line, pack } from "./transcripts.document.ts";

/** Empty without lines. */
export const document = sql<string>`hex(${callTexts.lines})`.as("document");

const names = sql`${builder
  .select({ pairs: sql`json_group_array(json_array(${participants.id}, ${people.display_name}))` })
  .from(participants)
  .innerJoin(people, isRecordOf)
  .where(eq(participants.call_id, callTexts.call_id))}`
  .mapWith((pairs: string): [number, string][] => JSON.parse(pairs))
  .as("names");

export const transcriptOfPath = rowsWhere(
  callTexts,
  { ...texts.callTextColumns, document, names },
  (call: Placeholders<ReachedCall>) => texts.isTextOf(endedCallId(call), "transcript"),
);

/** `delay` is null if the start of the recording is unknown. */
export const clockOfRecording = preparedQuery((egress: Placeholders<ReachedEgress>) =>
  builder
    .select({
      delay: sql<number | null>`${egresses.started_at} - ${calls.started_at}`.as("delay"),
      duration: egresses.duration,
    })
    .from(egresses)
    .innerJoin(calls, eq(calls.id, egresses.call_id))
    .where(visibleEgress(egress)),
);

/** Only if `clockOfRecording` returns a clock too: otherwise the transcript is not shown. */
export const entryOfCaptions = texts.textEntries((captions: Placeholders<ReachedEgress & texts.Kind>) =>
  and(
    texts.isReached(captions),
    exists(selectColumn(egresses.id, visibleEgress(captions), isNotNull(egresses.started_at))),
  ),
);

export const documentByCallKey = rowsWhere(callTexts, { document }, (call: Placeholders<CallKey>) =>
  texts.isTextOf(callIdByKey(call), "transcript"),
);

const speakerColumns = {
  id: participants.id,
  key: participants.key,
  display_name: people.display_name,
  erased_at: participants.erased_at,
};

export type Speaker = Row<typeof speakerColumns>;

export const transcriptToCorrect = rowsWhere(
  callTexts,
  { document, names },
  (call: Placeholders<ReachedCall>) => texts.isTextOf(callIdOfPath(call), "transcript"),
);

export const speakersByCallKey = preparedQuery((call: Placeholders<CallKey>) =>
  builder
    .select(speakerColumns)
    .from(participants)
    .innerJoin(people, isRecordOf)
    .where(eq(participants.call_id, callIdByKey(call)))
    .orderBy(participants.id),
);

/** Replaces the lines of a transcript and numbers the new ones. The transcript must have been written before. */
export async function replaceLines({ id: call_id }: { id: number }, lines: Line[]) {
  const count = lines.filter(({ id }) => id === null).length;
  const set = setLines({ call_id, document: await pack(lines), count });
  return count > 0 ? [takeLineIds({ count }), set] : [set];
}

/** Must run after `takeLineIds`, in the same transaction. Without new lines, the first id stays. */
const setLines = preparedQuery(
  (values: Placeholders<{ call_id: number; document: string; count: number }>) => {
    const first = builder
      .select({ id: sql`${sequences.value} - ${values.count} + 1` })
      .from(sequences)
      .where(and(eq(sequences.name, "transcript_lines"), gt(values.count, 0)));
    return builder
      .update(callTexts)
      .set({
        lines: sql`unhex(${values.document})`,
        first_line_id: coalesce(first, callTexts.first_line_id),
      })
      .where(texts.isTextOf(values.call_id, "transcript"));
  },
);

const takeLineIds = preparedQuery(({ count }: Placeholders<{ count: number }>) =>
  builder
    .insert(sequences)
    .values({ name: "transcript_lines", value: count })
    .onConflictDoUpdate({ target: sequences.name, set: { value: sql`${sequences.value} + excluded.value` } }),
);

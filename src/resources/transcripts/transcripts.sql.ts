import { asc, eq, getTableColumns, type SQLWrapper, sql } from "drizzle-orm";
import { scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { callTexts, participants, sequences, transcriptParts } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { isTextOf } from "../call_texts/call_texts.sql.ts";
import {
  type CallKey,
  callIdByKey,
  callIdOfPath,
  endedCallId,
  type ReachedCall,
} from "../calls/calls.sql.ts";
import { type Line, pack } from "./transcripts.document.ts";

/** A part of the lines, as hex; empty where there is none. */
const content = sql<string>`hex(${transcriptParts.content})`.as("content");

/** Who was on the call, as pairs of an id and a name. */
const names = sql`${builder
  .select({ pairs: sql`json_group_array(json_array(${participants.id}, ${participants.display_name}))` })
  .from(participants)
  .where(eq(participants.call_id, callTexts.call_id))}`
  .mapWith((pairs: string): [number, string][] => JSON.parse(pairs))
  .as("names");

/** The transcript of the call in the path, once for each of its parts, in their order. */
export const transcriptOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ ...getTableColumns(callTexts), content, names })
    .from(callTexts)
    .leftJoin(transcriptParts, eq(transcriptParts.transcript_id, callTexts.id))
    .where(isTextOf(endedCallId(call), "transcript"))
    .orderBy(asc(transcriptParts.part)),
);

const transcriptId = (call_id: SQLWrapper) =>
  scalar(selectColumn(callTexts.id, isTextOf(call_id, "transcript")));

export const partsByCallKey = preparedQuery((call: Placeholders<CallKey>) =>
  builder
    .select({ content })
    .from(transcriptParts)
    .where(eq(transcriptParts.transcript_id, transcriptId(callIdByKey(call))))
    .orderBy(asc(transcriptParts.part)),
);

const speakerColumns = {
  id: participants.id,
  key: participants.key,
  display_name: participants.display_name,
  erased_at: participants.erased_at,
};

export type Speaker = Row<typeof speakerColumns>;

/** The lines, in parts, and who was on the call, for a correction. */
export const transcriptToCorrect = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ content, names })
    .from(callTexts)
    .leftJoin(transcriptParts, eq(transcriptParts.transcript_id, callTexts.id))
    .where(isTextOf(callIdOfPath(call), "transcript"))
    .orderBy(asc(transcriptParts.part)),
);

/** Those on the call, who can speak. */
export const speakersByCallKey = preparedQuery((call: Placeholders<CallKey>) =>
  builder
    .select(speakerColumns)
    .from(participants)
    .where(eq(participants.call_id, callIdByKey(call)))
    .orderBy(participants.id),
);

/** Replaces the lines of a transcript, which is written before, and gives new ones their ids. */
export async function replaceLines(
  { id: call_id, organization_id }: { id: number; organization_id: number },
  lines: Line[],
) {
  const parts = [
    deleteParts({ call_id }),
    ...(await pack(lines)).map((content, part) => insertPart({ organization_id, call_id, part, content })),
  ];
  const count = lines.filter(({ id }) => id === null).length;
  return count > 0 ? [...parts, takeLineIds({ count }), setFirstLineId({ call_id, count })] : parts;
}

const deleteParts = preparedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  builder.delete(transcriptParts).where(eq(transcriptParts.transcript_id, transcriptId(call_id))),
);

/** `content` is hex. */
const insertPart = preparedQuery(
  (values: Placeholders<{ organization_id: number; call_id: number; part: number; content: string }>) =>
    builder.insert(transcriptParts).values({
      organization_id: values.organization_id,
      transcript_id: transcriptId(values.call_id),
      part: values.part,
      content: sql`unhex(${values.content})`,
    }),
);

const isOfLines = eq(sequences.name, "transcript_lines");

/** Runs after `takeLineIds`, in the same transaction. */
const setFirstLineId = preparedQuery(({ call_id, count }: Placeholders<{ call_id: number; count: number }>) =>
  builder
    .update(callTexts)
    .set({
      first_line_id: sql`${builder
        .select({ first: sql`${sequences.value} - ${count} + 1` })
        .from(sequences)
        .where(isOfLines)}`,
    })
    .where(isTextOf(call_id, "transcript")),
);

const takeLineIds = preparedQuery(({ count }: Placeholders<{ count: number }>) =>
  builder
    .insert(sequences)
    .values({ name: "transcript_lines", value: count })
    .onConflictDoUpdate({ target: sequences.name, set: { value: sql`${sequences.value} + excluded.value` } }),
);

import { and, asc, eq, getTableColumns, type SQLWrapper, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { participants, transcriptLines, transcriptParts, transcripts } from "../../database/schema.ts";
import { callIdByKey, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";
import { type Line, pack } from "./transcripts.document.ts";

export const transcriptColumns = getTableColumns(transcripts);

/** A part of the lines, as hex; empty where there is none. */
const content = sql<string>`hex(${transcriptParts.content})`.as("content");

/** Who was on the call, as pairs of an id and a name. */
const names = sql`${builder
  .select({ pairs: sql`json_group_array(json_array(${participants.id}, ${participants.display_name}))` })
  .from(participants)
  .where(eq(participants.call_id, transcripts.call_id))}`
  .mapWith((pairs: string): [number, string][] => JSON.parse(pairs))
  .as("names");

/** The transcript of the call in the path, once for each of its parts, in their order. */
export const transcriptOfPath = namedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ ...transcriptColumns, content, names })
    .from(transcripts)
    .leftJoin(transcriptParts, eq(transcriptParts.call_id, transcripts.call_id))
    .where(eq(transcripts.call_id, endedCallId(call)))
    .orderBy(asc(transcriptParts.part)),
);

const transcriptOf = (callId: Value<number>) =>
  builder.select(transcriptColumns).from(transcripts).where(eq(transcripts.call_id, callId));

export const transcriptByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  transcriptOf(callIdByKey(key)),
);

export const transcriptOfCall = namedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  transcriptOf(call_id),
);

export const partsByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder
    .select({ content })
    .from(transcriptParts)
    .where(eq(transcriptParts.call_id, callIdByKey(key)))
    .orderBy(asc(transcriptParts.part)),
);

/** The lines of a transcript that the cron has not yet moved into parts. */
const oldLines = (transcriptId: SQLWrapper) =>
  builder
    .select({
      id: transcriptLines.id,
      speaker_id: sql<number>`${transcriptLines.participant_id}`.as("speaker_id"),
      text: transcriptLines.text,
      start_time: transcriptLines.start_time,
      end_time: transcriptLines.end_time,
    })
    .from(transcriptLines)
    .where(eq(transcriptLines.transcript_id, transcriptId))
    .orderBy(asc(transcriptLines.start_time), asc(transcriptLines.end_time), asc(transcriptLines.id));

/** Of any call of the caller's organization: it may be shown only together with `transcriptOfPath`. */
export const oldLinesOfPath = namedQuery(({ organization_id, call_id }: Placeholders<ReachedCall>) =>
  oldLines(
    builder
      .select({ id: transcripts.id })
      .from(transcripts)
      .where(and(eq(transcripts.call_id, call_id), eq(transcripts.organization_id, organization_id))),
  ),
);

const transcriptIdOf = (callId: Value<number>) =>
  builder.select({ id: transcripts.id }).from(transcripts).where(eq(transcripts.call_id, callId));

export const oldLinesByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  oldLines(transcriptIdOf(callIdByKey(key))),
);

export const oldLinesOfCall = namedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  oldLines(transcriptIdOf(call_id)),
);

/** Those on the call, who can speak. */
export const speakersByCallKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder
    .select({ id: participants.id, key: participants.key, display_name: participants.display_name })
    .from(participants)
    .where(eq(participants.call_id, callIdByKey(key)))
    .orderBy(participants.id),
);

interface TranscriptOwner {
  organization_id: number;
  call_id: number;
}

/** Writes the lines of a transcript that has none, and gives new ones their ids. */
export async function insertLines({ organization_id, call_id }: TranscriptOwner, lines: Line[]) {
  const parts = (await pack(lines)).map((content, part) =>
    insertPart({ organization_id, call_id, part, content }),
  );
  const count = lines.filter(({ id }) => id === null).length;
  return count > 0 ? [...parts, setFirstLineId({ call_id }), takeLineIds({ count })] : parts;
}

const insertPart = namedQuery((part: Placeholders<TranscriptOwner & { part: number; content: string }>) =>
  builder.insert(transcriptParts).values({
    organization_id: part.organization_id,
    call_id: part.call_id,
    part: part.part,
    content: sql`unhex(${part.content})`,
  }),
);

/** SQLite's own table of the highest ids so far. */
const sequences = sqliteTable("sqlite_sequence", { name: text(), seq: integer().notNull() });

const isOfLines = eq(sequences.name, "transcript_lines");

const setFirstLineId = namedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  builder
    .update(transcripts)
    .set({
      first_line_id: sql`${builder
        .select({ next: sql`${sequences.seq} + 1` })
        .from(sequences)
        .where(isOfLines)}`,
    })
    .where(eq(transcripts.call_id, call_id)),
);

const takeLineIds = namedQuery(({ count }: Placeholders<{ count: number }>) =>
  builder
    .update(sequences)
    .set({ seq: sql`${sequences.seq} + ${count}` })
    .where(isOfLines),
);

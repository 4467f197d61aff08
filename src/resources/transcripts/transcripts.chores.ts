import { eq, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { type Decision, writeDecision } from "../../database/decisions.ts";
import { builder, namedQuery, type Placeholders, runAll } from "../../database/queries.ts";
import { transcriptLines, transcriptParts, transcripts } from "../../database/schema.ts";
import { TRANSCRIPT_LINES_MOVED, TRANSCRIPTS_MOVED } from "../../limits.ts";
import type { Transcript } from "./transcripts.schemas.ts";
import { insertLines, oldLinesOfCall, transcriptOfCall } from "./transcripts.sql.ts";

/**
 * Moves lines that are stored one by one into parts, a portion in one run. They keep their ids.
 *
 * @returns how many lines it moved
 */
export async function moveOldLines({ db }: Context): Promise<number> {
  let moved = 0;
  for (const { call_id } of await runAll(db, callsWithOldLines({ limit: TRANSCRIPTS_MOVED })))
    if (moved < TRANSCRIPT_LINES_MOVED) moved += await moveLines(db, call_id);
  return moved;
}

/** @returns how many lines there were */
async function moveLines(db: Database, call_id: number): Promise<number> {
  let count = 0;
  await writeDecision(
    db,
    [transcriptOfCall({ call_id })],
    async ([transcript], lines): Promise<Decision<Transcript | undefined>> => {
      count = lines.length;
      if (!transcript || count === 0) return { unchanged: transcript };
      const parts = await insertLines(transcript, lines);
      // Another run may have moved them at the same time.
      const writes = [deleteOldLines({ transcript_id: transcript.id }), deleteParts({ call_id }), ...parts];
      return { writes: [...writes, transcriptOfCall({ call_id })] };
    },
    [oldLinesOfCall({ call_id })],
  );
  return count;
}

/** The calls of transcripts with old lines. SQLite finds each in the index by the one before it, and reads no other line. */
const callsWithOldLines = namedQuery(({ limit }: Placeholders<{ limit: number }>) => {
  const first = sql`select min(${transcriptLines.transcript_id}) from ${transcriptLines}`;
  return builder
    .select({ call_id: transcripts.call_id })
    .from(transcripts)
    .innerJoin(
      sql`(with recursive pending (transcript_id) as (
        ${first} union all
        select (${first} where ${transcriptLines.transcript_id} > pending.transcript_id) from pending
        where pending.transcript_id is not null
      ) select transcript_id from pending where transcript_id is not null limit ${limit}) pending`,
      sql`${transcripts.id} = pending.transcript_id`,
    );
});

const deleteOldLines = namedQuery(({ transcript_id }: Placeholders<{ transcript_id: number }>) =>
  builder.delete(transcriptLines).where(eq(transcriptLines.transcript_id, transcript_id)),
);

const deleteParts = namedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  builder.delete(transcriptParts).where(eq(transcriptParts.call_id, call_id)),
);

import { eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { type Decision, writeDecision } from "../../database/decisions.ts";
import { digest } from "../../database/digest.ts";
import { insertSelect } from "../../database/insert.ts";
import { type BoundQuery, builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { transcriptLines, transcripts } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { TRANSCRIPT_PORTION } from "../../limits.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, reachedCall } from "../calls/calls.sql.ts";
import { mergeTranscript, type TranscriptRecord } from "./transcripts.merge.ts";
import type {
  ReportedLine,
  Transcript,
  TranscriptLine,
  TranscriptReport,
  TranscriptWithLines,
} from "./transcripts.schemas.ts";
import {
  linesByCallKey,
  linesOfPath,
  speakersByCallKey,
  transcriptByCallKey,
  transcriptIdOf,
  transcriptOfPath,
} from "./transcripts.sql.ts";

export async function requireTranscript(
  { db, caller }: ClientContext,
  path: CallPath,
): Promise<TranscriptWithLines> {
  const call = reachedCall(caller, path);
  const [[transcript], lines] = await runBatch(db, [transcriptOfPath(call), linesOfPath(call)]);
  if (!transcript) throw notFound("Transcript");
  return { ...transcript, lines };
}

/** Records the transcript of a call. Lines that differ replace those before; the same lines keep their rows. */
export async function reportTranscript(
  { db, now }: Context,
  key: string,
  { lines, ...report }: TranscriptReport,
): Promise<TranscriptWithLines> {
  const lineTexts = lines?.map((line) => JSON.stringify(line));
  const lines_digest = lineTexts && (await digest(`[${lineTexts.join(",")}]`));
  const results = transcriptWithLines(key);
  const [[transcript], rows] = await writeDecision(
    db,
    [callByKey({ key }), transcriptByCallKey({ key }), speakersByCallKey({ key })],
    async ([call], [known], speakers): Promise<Decision<[Transcript[], TranscriptLine[]]>> => {
      if (!call) throw notFound("Call");
      const speakerIds = new Map(speakers.map(({ id, key }) => [key, id]));
      const hasStranger = lines?.some((line) => !speakerIds.has(line.participant_key)) ?? false;
      const reportedLines = { digest: lines_digest, hasStranger };
      const next = mergeTranscript(known, report, reportedLines, now);
      if (next === known) return { unchanged: await runBatch(db, results) };
      const { id: call_id, organization_id } = call;
      const writes: BoundQuery<unknown>[] = [
        known
          ? updateTranscript({ call_id, ...next })
          : insertTranscript({ organization_id, call_id, ...next }),
      ];
      if (lines && next.lines_digest !== known?.lines_digest)
        writes.push(
          deleteLines({ call_id }),
          ...portionsOf(lines, speakerIds).map((portion) =>
            insertLines({ organization_id, call_id, lines: portion }),
          ),
        );
      return { writes, results };
    },
  );
  if (!transcript) throw new Error("The report left no transcript");
  return { ...transcript, lines: rows };
}

const transcriptWithLines = (key: string): [BoundQuery<Transcript>, BoundQuery<TranscriptLine>] => [
  transcriptByCallKey({ key }),
  linesByCallKey({ key }),
];

const insertTranscript = namedQuery(
  (transcript: Placeholders<TranscriptRecord & { organization_id: number; call_id: number }>) =>
    builder.insert(transcripts).values({
      organization_id: transcript.organization_id,
      call_id: transcript.call_id,
      summary: transcript.summary,
      is_final: transcript.is_final,
      lines_digest: transcript.lines_digest,
      created_at: transcript.created_at,
      updated_at: transcript.updated_at,
    }),
);

const updateTranscript = namedQuery(
  ({
    call_id,
    summary,
    is_final,
    lines_digest,
    updated_at,
  }: Placeholders<TranscriptRecord & { call_id: number }>) =>
    builder
      .update(transcripts)
      .set({
        summary: sql`${summary}`,
        is_final: sql`${is_final}`,
        lines_digest: sql`${lines_digest}`,
        updated_at: sql`${updated_at}`,
      })
      .where(eq(transcripts.call_id, call_id)),
);

const deleteLines = namedQuery(({ call_id }: Placeholders<{ call_id: number }>) =>
  builder.delete(transcriptLines).where(eq(transcriptLines.transcript_id, transcriptIdOf(call_id))),
);

/** `lines` is a JSON array of `[participant_id, text, start_time, end_time]`. */
const insertLines = namedQuery(
  ({
    organization_id,
    call_id,
    lines,
  }: Placeholders<{ organization_id: number; call_id: number; lines: string }>) =>
    insertSelect(
      transcriptLines,
      {
        organization_id,
        transcript_id: sql`${transcriptIdOf(call_id)}`,
        participant_id: sql`line.value ->> 0`,
        text: sql`line.value ->> 1`,
        start_time: sql`line.value ->> 2`,
        end_time: sql`line.value ->> 3`,
      },
      sql`from json_each(${lines}) as line order by line.key`,
    ),
);

/** The lines as JSON arrays for `insertLines`, of which none is too long for one parameter. */
function portionsOf(lines: ReportedLine[], speakerIds: Map<string, number>): string[] {
  const portions: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const { participant_key, text, start_time, end_time } of lines) {
    const line = JSON.stringify([speakerIds.get(participant_key), text, start_time, end_time]);
    if (size + line.length > TRANSCRIPT_PORTION) {
      portions.push([]);
      size = 0;
    }
    portions.at(-1)?.push(line);
    size += line.length;
  }
  return portions.map((portion) => `[${portion.join(",")}]`);
}

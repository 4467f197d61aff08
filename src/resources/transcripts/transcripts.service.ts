import { eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { type Decision, writeDecision } from "../../database/decisions.ts";
import { digest } from "../../database/digest.ts";
import { type BoundQuery, builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { transcripts } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, reachedCall } from "../calls/calls.sql.ts";
import { keepIds, type Line, numberLines, type StoredLine, unpack } from "./transcripts.document.ts";
import { mergeTranscript, type TranscriptRecord } from "./transcripts.merge.ts";
import type { Transcript, TranscriptReport, TranscriptWithLines } from "./transcripts.schemas.ts";
import {
  insertLines,
  oldLinesByCallKey,
  oldLinesOfPath,
  partsByCallKey,
  speakersByCallKey,
  transcriptByCallKey,
  transcriptOfPath,
} from "./transcripts.sql.ts";

export async function requireTranscript(
  { db, caller }: ClientContext,
  path: CallPath,
): Promise<TranscriptWithLines> {
  const call = reachedCall(caller, path);
  const [parts, old] = await runBatch(db, [transcriptOfPath(call), oldLinesOfPath(call)]);
  const [transcript] = parts;
  if (!transcript) throw notFound("Transcript");
  const lines = await storedLines(transcript, parts, old);
  return { ...transcript, lines, names: new Map(transcript.names) };
}

/** Records the transcript of a call. Lines that differ replace those before; a line that stays the same keeps its id. */
export async function reportTranscript(
  { db, now }: Context,
  key: string,
  { lines: reported, ...report }: TranscriptReport,
): Promise<TranscriptWithLines> {
  const lineTexts = reported?.map((line) => JSON.stringify(line));
  const lines_digest = lineTexts && (await digest(`[${lineTexts.join(",")}]`));
  let lines: Line[] = [];
  let names = new Map<number, string>();
  const transcript = await writeDecision(
    db,
    [callByKey({ key }), transcriptByCallKey({ key }), speakersByCallKey({ key })],
    async ([call], [known], speakers, parts, old): Promise<Decision<Transcript>> => {
      if (!call) throw notFound("Call");
      const speakerIds = new Map(speakers.map(({ id, key }) => [key, id]));
      const hasStranger = reported?.some((line) => !speakerIds.has(line.participant_key)) ?? false;
      const next = mergeTranscript(known, report, { digest: lines_digest, hasStranger }, now);
      names = new Map(speakers.map(({ id, display_name }) => [id, display_name]));
      lines = known ? await storedLines(known, parts, old) : [];
      if (next === known) return { unchanged: known };
      const { id: call_id, organization_id } = call;
      const writes: BoundQuery<unknown>[] = [
        known
          ? updateTranscript({ call_id, ...next })
          : insertTranscript({ organization_id, call_id, ...next }),
      ];
      if (reported && next.lines_digest !== known?.lines_digest) {
        const spoken = reported.map(({ participant_key, ...line }) => ({
          ...line,
          speaker_id: speakerIds.get(participant_key) as number,
        }));
        lines = keepIds(spoken, lines);
        // A trigger has removed those before: see triggers/transcripts.sql.
        writes.push(...(await insertLines({ organization_id, call_id }, lines)));
      }
      return { writes: [...writes, transcriptByCallKey({ key })] };
    },
    // The digest stands for the lines, and the first new id for the ids.
    [partsByCallKey({ key }), oldLinesByCallKey({ key })],
  );
  return { ...transcript, lines: numberLines(lines, transcript.first_line_id), names };
}

async function storedLines(
  { first_line_id }: Transcript,
  parts: { content: string }[],
  old: StoredLine[],
): Promise<StoredLine[]> {
  const content = parts.map((part) => part.content).join("");
  return content === "" ? old : numberLines(await unpack(content), first_line_id);
}

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

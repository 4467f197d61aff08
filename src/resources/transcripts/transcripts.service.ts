import { keyedDigests } from "../../bytes/digest.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import type { Settings } from "../../settings.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { entryOfText, textByCallKey, textWrites } from "../call_texts/call_texts.sql.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { type CallKey, callOfResults, reachedCall } from "../calls/calls.sql.ts";
import { namedKeys } from "../participants/participants.sql.ts";
import { keepIds, type Line, numberLines, storedLines } from "./transcripts.document.ts";
import { mergeTranscript, requireReportable } from "./transcripts.merge.ts";
import { transcriptNotFound } from "./transcripts.refusals.ts";
import type { TranscriptReport, TranscriptWithLines } from "./transcripts.schemas.ts";
import {
  documentByCallKey,
  replaceLines,
  type Speaker,
  speakersByCallKey,
  transcriptOfPath,
} from "./transcripts.sql.ts";

export async function requireTranscript(
  context: ClientContext,
  path: CallPath,
): Promise<TranscriptWithLines> {
  const reached = { ...reachedCall(context.caller, path), kind: "transcript" } as const;
  const [[transcript], entries] = await runBatch(context.db, [
    transcriptOfPath(reached),
    entryOfText(context, "read", reached),
  ]);
  if (!transcript) throw transcriptNotFound();
  requireEntry(entries);
  const lines = await storedLines(transcript, transcript);
  return { ...transcript, lines, names: new Map(transcript.names) };
}

/** Records the transcript of a call. Lines that differ replace those before; a line that stays the same keeps its id. */
export async function reportTranscript(
  { db, now, settings }: Context,
  path: CallKey,
  { lines: reported, ...report }: TranscriptReport,
): Promise<TranscriptWithLines> {
  const [lines_digest] = reported
    ? await keyedDigests(settings.DIGEST_SECRET, [JSON.stringify(reported)])
    : [];
  const transcriptRead = textByCallKey({ ...path, kind: "transcript" });
  let lines: Line[] = [];
  let names = new Map<number, string>();
  const transcript = await decideAndWrite(
    db,
    [callOfResults(path), transcriptRead, speakersByCallKey(path)],
    async ([call], [known], speakers, [stored]) => {
      if (!call) throw callNotFound();
      const speakerIds = await idsOfSpeakers(settings, speakers, reported ?? []);
      const hasStranger = reported?.some((line) => !speakerIds.has(line.participant_key)) ?? false;
      const reportedLines = { digest: lines_digest, until: reported?.at(-1)?.end_time, hasStranger };
      const next = mergeTranscript({ call, transcript: known }, report, reportedLines, now);
      names = new Map(speakers.map(({ id, display_name }) => [id, display_name]));
      lines = known ? [...(await storedLines(known, stored))] : [];
      const upsert = upsertIfChanged(textWrites, known, next);
      if ("unchanged" in upsert) return upsert;
      const hasNewLines = reported !== undefined && next.lines_digest !== known?.lines_digest;
      if (hasNewLines) {
        const spoken = reported.map(({ participant_key, ...line }) => ({
          ...line,
          speaker_id: speakerIds.get(participant_key) as number,
        }));
        lines = keepIds(spoken, lines);
      }
      requireReportable(next.summary ?? null, lines);
      if (!hasNewLines) return upsert;
      return { writes: [...upsert.writes, ...(await replaceLines(call, lines)), transcriptRead] };
    },
    // The digest stands for the lines, and the first new id for the ids.
    { unguardedReads: [documentByCallKey(path)] },
  );
  return { ...transcript, lines: numberLines(lines, transcript.first_line_id), names };
}

/** The ids of those on the call, by the keys of the report. */
async function idsOfSpeakers(
  settings: Settings,
  speakers: Speaker[],
  lines: { participant_key: string }[],
): Promise<Map<string, number>> {
  const keys = new Set(lines.map(({ participant_key }) => participant_key));
  const someErased = speakers.some(({ erased_at }) => erased_at !== null);
  // Where more speak than are on the call, one is a stranger anyway.
  const named = someErased && keys.size <= speakers.length ? await namedKeys(settings, [...keys]) : undefined;
  return new Map((named?.identify(speakers) ?? speakers).map(({ id, key }) => [key, id]));
}

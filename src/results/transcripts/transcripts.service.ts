import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { keyedDigests } from "../../bytes/digest.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { type CallKey, callOfResults, reachedCall } from "../../calls/calls/calls.sql.ts";
import { namedKeys } from "../../calls/participants/participants.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import type { Settings } from "../../settings.ts";
import { entryOfText, textByCallKey, textWrites } from "../call_texts/call_texts.sql.ts";
import { egressNotFound } from "../egresses/egresses.refusals.ts";
import { keepIds, type Line, numberLines, onRecordingClock, storedLines } from "./transcripts.document.ts";
import { mergeTranscript, requireReportable } from "./transcripts.merge.ts";
import { recordingStartUnknown, transcriptNotFound } from "./transcripts.refusals.ts";
import type { StoredTranscript, TranscriptReport, TranscriptWithLines } from "./transcripts.schemas.ts";
import * as sql from "./transcripts.sql.ts";

/** With `egress_id`, the lines are on the clock of this recording of the call. */
export async function requireTranscript(
  context: ClientContext,
  path: CallPath,
  { egress_id }: { egress_id?: number | undefined } = {},
): Promise<StoredTranscript> {
  const reached = { ...reachedCall(context.caller, path), kind: "transcript" } as const;
  const recorded = egress_id === undefined ? undefined : { ...reached, egress_id };
  const [[transcript], entries, clocks = []] = await runBatch(context.db, [
    sql.transcriptOfPath(reached),
    recorded ? sql.entryOfCaptions(context, "read", recorded) : entryOfText(context, "read", reached),
    ...(recorded ? [sql.clockOfRecording(recorded)] : []),
  ]);
  if (!transcript) throw transcriptNotFound();
  const [clock] = clocks;
  if (recorded && !clock) throw egressNotFound();
  if (clock?.delay === null) throw recordingStartUnknown();
  requireEntry(entries);
  const stored = await storedLines(transcript, transcript);
  const lines = clock ? onRecordingClock(stored, clock.delay, clock.duration) : stored;
  return { ...transcript, names: new Map(transcript.names), lines };
}

export async function reportTranscript(
  context: Context,
  path: CallKey,
  { lines: reported, ...report }: TranscriptReport,
): Promise<TranscriptWithLines> {
  const { now, settings } = context;
  const lines_digest = reported && (await digestOfLines(settings, reported));
  const transcriptRead = textByCallKey({ ...path, kind: "transcript" });
  let lines: Line[] = [];
  let names = new Map<number, string>();
  const transcript = await decideAndWrite(
    context,
    { call: callOfResults(path), transcript: transcriptRead, speakers: sql.speakersByCallKey(path) },
    async ({ call: [call], transcript: [known], speakers, document: [stored] }) => {
      if (!call) throw callNotFound();
      const speakerIds = await idsOfSpeakers(settings, speakers, reported ?? []);
      const stranger = reported?.find((line) => !speakerIds.has(line.participant_key))?.place;
      const reportedLines = { digest: lines_digest, until: reported?.at(-1)?.end_time, stranger };
      const next = mergeTranscript({ call, transcript: known }, report, reportedLines, now);
      names = new Map(speakers.map(({ id, display_name }) => [id, display_name]));
      lines = known ? [...(await storedLines(known, stored))] : [];
      const upsert = upsertIfChanged(textWrites, known, next);
      if ("unchanged" in upsert) return upsert;
      const hasNewLines = reported !== undefined && next.lines_digest !== known?.lines_digest;
      if (hasNewLines) {
        const spoken = reported.map(({ participant_key, place: _, ...line }) => ({
          ...line,
          speaker_id: speakerIds.get(participant_key) as number,
        }));
        lines = keepIds(spoken, lines);
      }
      requireReportable(next.summary ?? null, lines);
      if (!hasNewLines) return upsert;
      return { writes: [...upsert.writes, ...(await sql.replaceLines(call, lines)), transcriptRead] };
    },
    // `lines_digest` guards the lines, and `first_line_id` guards their ids.
    { unguardedReads: { document: sql.documentByCallKey(path) } },
  );
  return { ...transcript, lines: numberLines(lines, transcript.first_line_id), names };
}

/** The order in which the lines were sent makes no difference, because they are sorted. */
async function digestOfLines(settings: Settings, lines: NonNullable<TranscriptReport["lines"]>) {
  const json = JSON.stringify(lines.map(({ place: _, ...line }) => line));
  return (await keyedDigests(settings.DIGEST_SECRET, [json]))[0];
}

async function idsOfSpeakers(
  settings: Settings,
  speakers: sql.Speaker[],
  lines: { participant_key: string }[],
): Promise<Map<string, number>> {
  const keys = new Set(lines.map(({ participant_key }) => participant_key));
  const someErased = speakers.some(({ erased_at }) => erased_at !== null);
  // If the report has more speakers than the call has participants, one of them is not on the call anyway.
  const named = someErased && keys.size <= speakers.length ? await namedKeys(settings, [...keys]) : undefined;
  return new Map((named?.identify(speakers) ?? speakers).map(({ id, key }) => [key, id]));
}

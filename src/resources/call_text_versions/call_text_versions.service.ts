import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import type { CallTextKind } from "../../database/enums.ts";
import { type BoundQuery, type RowsOf, runBatch } from "../../database/queries.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { rolesOfCaller } from "../api_clients/api_clients.sql.ts";
import {
  type CallText,
  entryOfText,
  textOfPath,
  textOfReach,
  textWrites,
} from "../call_texts/call_texts.sql.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { reachedCall, resultsOfPath } from "../calls/calls.sql.ts";
import { soapNoteNotFound } from "../soap_notes/soap_notes.refusals.ts";
import type { SoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { type StoredLine, storedLines } from "../transcripts/transcripts.document.ts";
import { requireReportable } from "../transcripts/transcripts.merge.ts";
import { transcriptNotFound } from "../transcripts/transcripts.refusals.ts";
import type { TranscriptWithLines } from "../transcripts/transcripts.schemas.ts";
import { replaceLines, transcriptOfPath, transcriptToCorrect } from "../transcripts/transcripts.sql.ts";
import { correctLines, correctText, type Replaced, requireCorrectable } from "./call_text_versions.merge.ts";
import { requireCorrector, requireCorrectorStill } from "./call_text_versions.policy.ts";
import type { SoapNoteCorrection, TranscriptCorrection } from "./call_text_versions.schemas.ts";
import { insertVersion, stateOfText, type TextVersion, versionsOfPath } from "./call_text_versions.sql.ts";

const NOT_FOUND = { transcript: transcriptNotFound, soap_note: soapNoteNotFound };

/** Corrects a final SOAP note. What it said before stays, as a version. */
export async function correctSoapNote(
  context: ClientContext,
  path: CallPath,
  { text, reason }: SoapNoteCorrection,
): Promise<SoapNote> {
  const corrected = await correct(context, { path, kind: "soap_note", reason }, [], (note) =>
    note.text === text ? null : { changes: { text }, replaced: { text: note.text } },
  );
  return corrected as SoapNote;
}

/** Corrects the summary, and lines, of a final transcript. What they said before stays, as a version. */
export async function correctTranscript(
  context: ClientContext,
  path: CallPath,
  { summary, lines: wanted = [], reason }: TranscriptCorrection,
): Promise<TranscriptWithLines> {
  let lines: StoredLine[] = [];
  let names = new Map<number, string>();
  const corrected = await correct(
    context,
    { path, kind: "transcript", reason },
    [transcriptToCorrect(reachedCall(context.caller, path))],
    async (transcript, [stored]) => {
      names = new Map(stored?.names);
      const next = correctLines(await storedLines(transcript, stored), wanted);
      lines = next.lines;
      const isSameSummary = summary === undefined || summary === transcript.summary;
      const hasNewLines = next.replaced.length > 0;
      if (isSameSummary && !hasNewLines) return null;
      const changes = { summary: isSameSummary ? transcript.summary : summary };
      requireReportable(changes.summary, lines);
      return {
        changes,
        replaced: {
          summary: transcript.summary,
          lines: hasNewLines ? JSON.stringify(next.replaced) : null,
        },
        writes: hasNewLines ? await replaceLines({ id: transcript.call_id }, lines) : [],
      };
    },
  );
  return { ...corrected, lines, names };
}

/** What a correction makes of a text. */
interface Corrected {
  changes: Partial<CallText>;
  /** What that was. */
  replaced: Partial<Replaced>;
  /** What else it writes. */
  writes?: BoundQuery<unknown>[];
}

/**
 * Reads, decides and writes a correction.
 *
 * @param correctOne null where nothing changes: then there is no new version
 */
function correct<Reads extends BoundQuery<unknown>[]>(
  context: ClientContext,
  { path, kind, reason }: { path: CallPath; kind: CallTextKind; reason: string },
  unguardedReads: [...Reads],
  correctOne: (text: CallText, ...rows: RowsOf<[...Reads]>) => Corrected | null | Promise<Corrected | null>,
): Promise<CallText> {
  const { db, now, caller } = context;
  const notFound = NOT_FOUND[kind];
  const reached = { ...reachedCall(caller, path), kind };
  return decideAndWrite(
    db,
    [rolesOfCaller(caller), resultsOfPath(reached), stateOfText(reached)],
    async ([member], [call], _, [text], ...rows) => {
      requireCorrectorStill(caller, member, notFound);
      if (!call || !text) throw notFound();
      requireCorrectable({ hasEnded: call.has_ended, text });
      const corrected = await correctOne(text, ...(rows as RowsOf<[...Reads]>));
      // It shows the text.
      if (!corrected)
        return { writes: [textOfReach(reached)], entries: [entryOfText(context, "read", reached)] };
      const { changes, writes = [] } = corrected;
      const replaced = { text: null, summary: null, lines: null, ...corrected.replaced };
      const by = { user_id: caller.organization_user_id, reason };
      const next = correctText(text, { changes, replaced }, by, now);
      return {
        writes: [insertVersion(next.version), ...writes, textWrites.update(text, next.text)],
        entries: [entryOfText(context, "update", reached)],
      };
    },
    { unguardedReads: [textOfReach(reached), ...unguardedReads] },
  );
}

/** What the SOAP note of a call said before each of its corrections, newest first. */
export async function listSoapNoteVersions(
  context: ClientContext,
  path: CallPath,
): Promise<{ note: SoapNote; versions: TextVersion[] }> {
  const { text, versions } = await readVersions(context, path, "soap_note", textOfPath);
  return { note: text as SoapNote, versions };
}

/** What the transcript of a call said before each of its corrections, newest first. */
export async function listTranscriptVersions(
  context: ClientContext,
  path: CallPath,
): Promise<TranscriptWithLines & { versions: TextVersion[] }> {
  const { text, versions } = await readVersions(context, path, "transcript", transcriptOfPath);
  const lines = await storedLines(text, text);
  return { ...text, lines, names: new Map(text.names), versions };
}

/** @param textOf reads the text as it is now */
async function readVersions<Text>(
  context: ClientContext,
  path: CallPath,
  kind: CallTextKind,
  textOf: (of: ReturnType<typeof reachedCall> & { kind: CallTextKind }) => BoundQuery<Text>,
): Promise<{ text: Text; versions: TextVersion[] }> {
  const { db, caller } = context;
  requireCorrector(caller, NOT_FOUND[kind]);
  const reached = { ...reachedCall(caller, path), kind };
  const [[text], versions, entries] = await runBatch(db, [
    textOf(reached),
    versionsOfPath(reached),
    entryOfText(context, "read", reached),
  ]);
  if (!text) throw NOT_FOUND[kind]();
  requireEntry(entries);
  return { text, versions };
}

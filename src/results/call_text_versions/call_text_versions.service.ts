import { desc, eq, getTableColumns } from "drizzle-orm";
import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { type ReachedCall, reachedCall, resultsOfPath } from "../../calls/calls/calls.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import type { CallTextKind } from "../../database/enums.ts";
import { valuesFor } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type NamedQueries,
  type Placeholders,
  preparedQuery,
  type RowsOf,
  runBatch,
} from "../../database/queries.ts";
import { requireVersion } from "../../http/preconditions.ts";
import { requireRoleOf } from "../../http/roles.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { rightsOfCaller } from "../../organization/api_clients/api_clients.sql.ts";
import { CORRECTORS, requireCorrectorStill } from "../../organization/roles/roles.policy.ts";
import { countBytes } from "../../organization/usage/usage.quotas.ts";
import * as texts from "../call_texts/call_texts.sql.ts";
import { soapNoteNotFound } from "../soap_notes/soap_notes.merge.ts";
import type { SoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { asLines, type StoredLine, storedLines } from "../transcripts/transcripts.document.ts";
import { requireReportable } from "../transcripts/transcripts.merge.ts";
import { transcriptNotFound } from "../transcripts/transcripts.refusals.ts";
import { type StoredTranscript, toLine } from "../transcripts/transcripts.schemas.ts";
import { replaceLines, transcriptOfPath, transcriptToCorrect } from "../transcripts/transcripts.sql.ts";
import { correctLines, correctText, type Replaced } from "./call_text_versions.merge.ts";
import { textNotFinal } from "./call_text_versions.refusals.ts";
import type { SoapNoteCorrection, TranscriptCorrection } from "./call_text_versions.schemas.ts";
import { callTextVersions, type TextVersion } from "./call_text_versions.table.ts";

const insertVersion = preparedQuery((version: Placeholders<TextVersion>) =>
  builder.insert(callTextVersions).values(valuesFor(callTextVersions, version)),
);

const versionsOfPath = preparedQuery((text: Placeholders<ReachedCall & texts.Kind>) =>
  builder
    .select(getTableColumns(callTextVersions))
    .from(callTextVersions)
    .where(eq(callTextVersions.text_id, texts.textIdOfPath(text)))
    .orderBy(desc(callTextVersions.version)),
);

const NOT_FOUND = { transcript: transcriptNotFound, soap_note: soapNoteNotFound };

export async function correctSoapNote(
  context: ClientContext,
  path: CallPath,
  { text, reason }: SoapNoteCorrection,
): Promise<SoapNote> {
  const corrected = await correct(context, { path, kind: "soap_note", reason }, {}, (note) =>
    note.text === text ? null : { changes: { text }, replaced: { text: note.text } },
  );
  return corrected as SoapNote;
}

export async function correctTranscript(
  context: ClientContext,
  path: CallPath,
  { summary, lines: wanted = [], reason }: TranscriptCorrection,
): Promise<StoredTranscript> {
  let lines: StoredLine[] = [];
  let names = new Map<number, string>();
  const corrected = await correct(
    context,
    { path, kind: "transcript", reason },
    { stored: transcriptToCorrect(reachedCall(context.caller, path)) },
    async (transcript, { stored: [stored] }) => {
      names = new Map(stored?.names);
      const known = await storedLines(transcript, stored);
      requireLinesUnchanged(context, known, names);
      const next = correctLines(known, wanted);
      lines = next.lines;
      const isSameSummary = summary === undefined || summary === (transcript.summary ?? "");
      const hasNewLines = next.replaced.length > 0;
      if (isSameSummary && !hasNewLines) return null;
      const changes = { summary: isSameSummary ? transcript.summary : summary };
      requireReportable(changes.summary, lines);
      return {
        changes,
        replaced: { summary: transcript.summary, lines: hasNewLines ? JSON.stringify(next.replaced) : null },
        writes: hasNewLines ? await replaceLines({ id: transcript.call_id }, lines) : [],
      };
    },
  );
  return { ...corrected, lines: asLines(lines), names };
}

/** A separate function, so that nothing holds the lines while they are corrected. */
function requireLinesUnchanged(context: Context, known: Iterable<StoredLine>, names: Map<number, string>) {
  const transcript_lines = Array.from(known, (line) => toLine(line, names));
  const lines = transcript_lines.map(({ text: _, ...line }) => line);
  requireUnchanged(context, { transcript_lines, lines });
}

interface Corrected {
  changes: Partial<texts.CallText>;
  replaced: Partial<Replaced>;
  writes?: BoundQuery<unknown>[];
}

/** @param correctOne returns null if nothing changes, so that no version is created */
function correct<Reads extends NamedQueries>(
  context: ClientContext,
  { path, kind, reason }: { path: CallPath; kind: CallTextKind; reason: string },
  unguardedReads: Reads,
  correctOne: (text: texts.CallText, rows: RowsOf<Reads>) => Corrected | null | Promise<Corrected | null>,
): Promise<texts.CallText> {
  const { now, caller } = context;
  const notFound = NOT_FOUND[kind];
  const reached = { ...reachedCall(caller, path), kind };
  return decideAndWrite(
    context,
    { member: rightsOfCaller(caller), call: resultsOfPath(reached), state: texts.stateOfText(reached) },
    async ({ member: [member], call: [call], text: [text], ...rows }) => {
      requireCorrectorStill(caller, member, notFound);
      if (!call || !text) throw notFound();
      requireVersion(context, text);
      requireUnchanged(context, { is_final: text.is_final });
      if (!call.has_ended || !text.is_final) throw textNotFinal(kind);
      const corrected = await correctOne(text, rows as RowsOf<Reads>);
      // The response contains the text, so this counts as a read.
      if (!corrected)
        return {
          writes: [texts.textOfReach(reached)],
          entries: [texts.entryOfText(context, "read", reached)],
        };
      const { changes, writes = [] } = corrected;
      const replaced = { text: null, summary: null, lines: null, ...corrected.replaced };
      const by = { user_id: caller.organization_user_id, reason };
      const next = correctText(text, { changes, replaced }, by, now);
      countBytes(context, next.text.replaced_size - text.replaced_size);
      return {
        writes: [insertVersion(next.version), ...writes, texts.textWrites.update(text, next.text)],
        entries: [texts.entryOfText(context, "update", reached)],
      };
    },
    { unguardedReads: { text: texts.textOfReach(reached), ...(unguardedReads as NamedQueries) } },
  );
}

export async function listSoapNoteVersions(context: ClientContext, path: CallPath) {
  const { text, versions } = await readVersions(context, path, "soap_note", texts.textOfPath);
  return { note: text as SoapNote, versions };
}

export async function listTranscriptVersions(context: ClientContext, path: CallPath) {
  const { text, versions } = await readVersions(context, path, "transcript", transcriptOfPath);
  const lines = await storedLines(text, text);
  return { ...text, lines, names: new Map(text.names), versions };
}

async function readVersions<Text>(
  context: ClientContext,
  path: CallPath,
  kind: CallTextKind,
  textOf: (of: ReturnType<typeof reachedCall> & { kind: CallTextKind }) => BoundQuery<Text>,
): Promise<{ text: Text; versions: TextVersion[] }> {
  const { db, caller } = context;
  requireRoleOf(caller, ...CORRECTORS);
  const reached = { ...reachedCall(caller, path), kind };
  const [[text], versions, entries] = await runBatch(db, [
    textOf(reached),
    versionsOfPath(reached),
    texts.entryOfText(context, "read", reached),
  ]);
  if (!text) throw NOT_FOUND[kind]();
  requireEntry(entries);
  return { text, versions };
}

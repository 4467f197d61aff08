import type { SigningKey } from "../../audit/access_log_seals/access_log_seals.keys.ts";
import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { reachedCall } from "../../calls/calls/calls.sql.ts";
import { participantsOfPath } from "../../calls/participants/participants.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { type BoundQuery, runBatch } from "../../database/queries.ts";
import { hasOneOf } from "../../http/roles.ts";
import { includesScope } from "../../http/scopes.ts";
import { CORRECTORS } from "../../organization/roles/roles.policy.ts";
import type { SoapNote } from "../../results/soap_notes/soap_notes.schemas.ts";
import { storedLines } from "../../results/transcripts/transcripts.document.ts";
import { cannotSign } from "./call_records.refusals.ts";
import type { CallRecord } from "./call_records.schemas.ts";
import {
  consentsEntry,
  correctionsOfRecord,
  countingDecisions,
  participantsEntry,
  type RecordOfPath,
  recordedCall,
  recordingsOfRecord,
  textsEntries,
  textsOfRecord,
} from "./call_records.sql.ts";

type Entries = { id: number }[][];

/** The parts of the record that the client's scopes and roles let it read as JSON too. */
export const recordOfPath = ({ caller }: ClientContext, path: CallPath): RecordOfPath => ({
  ...reachedCall(caller, path),
  reads_results: includesScope(caller.scopes, "results:read"),
  reads_versions: hasOneOf(caller, CORRECTORS),
});

/**
 * Reads a call and everything about it in one batch, together with the statements that write the read's entries.
 *
 * @param statements write the entries: the caller must check that each has written its own
 */
export async function readCallRecord(
  { db }: Context,
  of: RecordOfPath,
  statements: BoundQuery<{ id: number }>[],
): Promise<{ record: CallRecord | undefined; entries: Entries }> {
  const [[call], participants, decisions, texts, corrections, recordings, ...entries] = await runBatch(db, [
    recordedCall(of),
    participantsOfPath(of),
    countingDecisions(of),
    textsOfRecord(of),
    correctionsOfRecord(of),
    recordingsOfRecord(of),
    ...statements,
  ]);
  if (!call) return { record: undefined, entries };
  const transcript = texts.find(({ kind }) => kind === "transcript");
  const record = {
    call,
    participants,
    decisions,
    transcript: transcript && {
      ...transcript,
      lines: await storedLines(transcript, transcript),
      names: new Map(participants.map(({ id, display_name }) => [id, display_name])),
    },
    soap_note: texts.find(({ kind }) => kind === "soap_note") as SoapNote | undefined,
    corrections,
    recordings,
  };
  return { record, entries };
}

/** Leaves the entries that reading the participants, the consents and the texts leaves. */
export async function requireCallRecord(context: ClientContext, path: CallPath): Promise<CallRecord> {
  const of = recordOfPath(context, path);
  const { record, entries } = await readCallRecord(context, of, [
    participantsEntry(context, "read", of),
    consentsEntry(context, "read", of),
    textsEntries(context, "read", of),
  ]);
  if (!record) throw callNotFound();
  const [ofParticipants = [], ofConsents = [], ofTexts = []] = entries;
  requireEntry(ofParticipants);
  requireEntry(ofConsents);
  requireTextsEntries(record, ofTexts);
  return record;
}

/** @throws Error if the read of a text was not recorded: then the record must not be shown */
export function requireTextsEntries({ transcript, soap_note }: CallRecord, entries: { id: number }[]): void {
  if (entries.length !== [transcript, soap_note].filter(Boolean).length)
    throw new Error("A text of the call left no entry in the access log");
}

/** The address of this service, which the names of its identifiers begin with. */
export const addressOf = ({ settings, url }: ClientContext): string =>
  settings.PUBLIC_URL?.replace(/\/+$/, "") ?? new URL(url).origin;

/** The key that seals the access log. */
export function requireSigningKey({ settings }: Context): SigningKey {
  if (!settings.AUDIT_SIGNING_KEY) throw cannotSign();
  return settings.AUDIT_SIGNING_KEY;
}

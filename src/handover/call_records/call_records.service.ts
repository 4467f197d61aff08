import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { reachedCall } from "../../calls/calls/calls.sql.ts";
import { participantsOfPath } from "../../calls/participants/participants.sql.ts";
import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { hasOneOf } from "../../http/roles.ts";
import { includesScope } from "../../http/scopes.ts";
import { CORRECTORS } from "../../organization/roles/roles.policy.ts";
import { storedLines } from "../../results/transcripts/transcripts.document.ts";
import type { CallRecord } from "./call_records.schemas.ts";
import {
  countingDecisions,
  type listEntries,
  recordedCall,
  recordingsOfRecord,
  textsEntries,
  textsOfRecord,
} from "./call_records.sql.ts";

/**
 * Reads a call and everything about it that the client's scopes and roles let it read as JSON too. The same batch writes an entry for each
 * text.
 *
 * @param entries write the other entries of the read
 */
export async function requireCallRecord(
  context: ClientContext,
  path: CallPath,
  entries: typeof listEntries,
): Promise<CallRecord> {
  const { db, caller } = context;
  const of = {
    ...reachedCall(caller, path),
    reads_results: includesScope(caller.scopes, "results:read"),
    reads_versions: hasOneOf(caller, CORRECTORS),
  };
  const [[call], participants, decisions, texts, recordings, ofTexts, ...others] = await runBatch(db, [
    recordedCall(of),
    participantsOfPath(of),
    countingDecisions(of),
    textsOfRecord(of),
    recordingsOfRecord(of),
    textsEntries(context, "read", of),
    ...entries.map((entry) => entry(context, "read", of)),
  ]);
  if (!call) throw callNotFound();
  if (ofTexts.length !== texts.length) throw new Error("The read of a text left no entry in the access log");
  others.forEach(requireEntry);
  const transcript = texts.find(({ kind }) => kind === "transcript");
  return {
    call,
    participants,
    decisions,
    transcript: transcript && {
      ...transcript,
      lines: await storedLines(transcript, transcript),
      names: new Map(participants.map(({ id, display_name }) => [id, display_name])),
    },
    soap_note: texts.find(({ kind }) => kind === "soap_note") as CallRecord["soap_note"],
    recordings,
  };
}

/** The address of this service, which the names of its identifiers begin with. */
export const addressOf = ({ settings, url }: ClientContext): string =>
  settings.PUBLIC_URL?.replace(/\/+$/, "") ?? new URL(url).origin;

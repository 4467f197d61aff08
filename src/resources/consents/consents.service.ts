import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callOfPath, reachedCall } from "../calls/calls.sql.ts";
import type { Consent } from "./consents.schemas.ts";
import { consentsEntry, consentsOfPath } from "./consents.sql.ts";

/** What the participants of a call decided on being recorded, oldest first; also while the call goes on. */
export async function listConsents(context: ClientContext, path: CallPath): Promise<Consent[]> {
  const reachedPath = reachedCall(context.caller, path);
  const [[call], decisions, entries] = await runBatch(context.db, [
    callOfPath(reachedPath),
    consentsOfPath(reachedPath),
    consentsEntry(context, "read", reachedPath),
  ]);
  if (!call) throw callNotFound();
  requireEntry(entries);
  return decisions;
}

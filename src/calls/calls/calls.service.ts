import type * as z from "zod";
import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { type Placeholders, requireFirst, runBatch } from "../../database/queries.ts";
import { dateOf, endOfDate } from "../../http/dates.ts";
import { type Position, writePosition } from "../../http/pagination.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { reachOf } from "../../organization/members/members.sql.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { countVisits } from "../../organization/usage/usage.sql.ts";
import { writePeople } from "../../rooms/people/people.sql.ts";
import { startVisits } from "../../rooms/visits/visits.reports.ts";
import { participantSearchEntry } from "../../rooms/visits/visits.sql.ts";
import { insertConsents } from "../consents/consents.sql.ts";
import { deleteRefusals } from "../consents/early_refusals.ts";
import { holdWrites } from "../legal_holds/legal_holds.sql.ts";
import { joinErased, namedKeys, writeParticipants } from "../participants/participants.sql.ts";
import { listQueries } from "./calls.lists.ts";
import { type CallReport, type KnownCall, mergeCall, mergeReference } from "./calls.merge.ts";
import { callReads, knownOfReport, valuesOfReport } from "./calls.reads.ts";
import { callNotFound, callOwnerNotFound } from "./calls.refusals.ts";
import {
  type Call,
  type CallDetails,
  type CallPath,
  type CallsQuery,
  type ReportedCall,
  toCallDetails,
  type updateCallBody,
} from "./calls.schemas.ts";
import {
  announceRecordingsOf,
  type CallKey,
  callByKey,
  callDetails,
  callEntry,
  callIdByKey,
  callWrites,
  ownerOfPath,
  reachedCall,
  referenceOfPath,
  setReference,
} from "./calls.sql.ts";

export interface CallPage {
  calls: Call[];
  /** null on the last page. */
  next_after: string | null;
}

export async function listCalls(
  { db, caller }: ClientContext,
  organization_user_id: number,
  query: CallsQuery,
): Promise<CallPage> {
  const owner = { ...reachOf(caller), owner_id: organization_user_id };
  const [owners, calls, [end]] = await runBatch(db, [
    ownerOfPath(owner),
    ...listQueries({ ...owner, ...partOf(query), participant_digest: null }),
  ]);
  if (owners.length === 0) throw callOwnerNotFound();
  return toCallPage(query, calls, end);
}

/** Lists the calls of all users that the caller reaches. A search for a participant is recorded. */
export async function findCalls(context: ClientContext, query: CallsQuery): Promise<CallPage> {
  const { db, caller, settings } = context;
  const reference_digest = await digestOfReference(settings, query.participant_reference);
  const of = { organization_id: caller.organization_id, reference_digest };
  const recorded = reference_digest === null ? [] : [participantSearchEntry(context, "search", of)];
  const participant_digest = reference_digest;
  const queries = listQueries({ ...reachOf(caller), owner_id: 0, ...partOf(query), participant_digest });
  const [calls, [end], ...entries] = await runBatch(db, [...queries, ...recorded]);
  entries.forEach(requireEntry);
  return toCallPage(query, calls, end);
}

/** The part of a list that a query asks for, with one extra call if there are more. */
function partOf({ from, to, after, external_reference, per_page }: CallsQuery) {
  const before = to === undefined ? Number.MAX_SAFE_INTEGER : endOfDate(to);
  return {
    from: from === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(from),
    before_start: Math.min(after?.time ?? before, before),
    before_id: after !== undefined && after.time < before ? after.id : 0,
    external_reference: external_reference ?? null,
    limit: per_page + 1,
  };
}

function toCallPage({ per_page }: CallsQuery, found: Call[], end: Position | undefined): CallPage {
  const calls = found.slice(0, per_page);
  const last = calls.at(-1);
  const position = last && found.length > per_page ? { time: last.started_at, id: last.id } : end;
  return { calls, next_after: position ? writePosition(position) : null };
}

export const requireCall = ({ db, caller }: ClientContext, path: CallPath): Promise<CallDetails> =>
  requireFirst(db, callDetails(reachedCall(caller, path)), callNotFound);

export async function updateCall(
  context: ClientContext,
  path: CallPath,
  update: z.output<ReturnType<typeof updateCallBody>>["call"],
): Promise<CallDetails> {
  const { db, now, caller } = context;
  const reachedPath = reachedCall(caller, path);
  return decideAndWrite(
    db,
    { reference: referenceOfPath(reachedPath) },
    ({ reference: [known], call: [call] }): Decision<CallDetails> => {
      if (!known || !call) throw callNotFound();
      requireUnchanged(context, toCallDetails(call));
      const external_reference = mergeReference(known, update);
      const isSame = external_reference === known.external_reference;
      const isNothingSaid = update.external_reference === undefined || known.reference_erased_at !== null;
      if (isSame && (isNothingSaid || known.reference_said_by === "organization")) return { unchanged: call };
      const { id } = known;
      return {
        writes: [setReference({ id, external_reference, now }), callDetails(reachedPath)],
        entries: isSame ? [] : [callEntry(context, "update", { id })],
      };
    },
    { unguardedReads: { call: callDetails(reachedPath) } },
  );
}

export const requireReportedCall = ({ db }: Context, call: CallKey): Promise<ReportedCall> =>
  requireFirst(db, callByKey(call), callNotFound);

/** Records a report of a call and its participants (see calls.merge.ts). The key is the reporter's own. */
export async function reportCall(
  context: Context,
  { organization_id, key }: CallKey,
  report: CallReport,
): Promise<ReportedCall> {
  const { db, settings } = context;
  const named = await namedKeys(
    settings,
    (report.participants ?? []).map((each) => each.key),
  );
  return decideAndWrite(
    db,
    reportReads({ organization_id, key, ...valuesOfReport(report, named) }),
    ({ organization: [organization], ...rows }) => {
      if (!organization) throw organizationNotFound();
      return decideCall(context, { organization_id, ...knownOfReport(named, rows) }, key, report);
    },
  );
}

const reportReads = callReads((call: Placeholders<CallKey>) => ({
  organization_id: call.organization_id,
  key: call.key,
  call_id: callIdByKey(call),
}));

/** Returns the statements that write a report's changes. */
export async function decideCall(
  context: Context,
  known: KnownCall,
  key: string,
  report: CallReport,
): Promise<Decision<ReportedCall>> {
  const { now, settings } = context;
  const { organization_id, call: before } = known;
  const written = { organization_id, key };
  const { call, participants, people, erased, consents, taken, beginsHold, startedVisits } = mergeCall(
    known,
    key,
    report,
    now,
  );
  const lists = [participants, people, erased, consents, taken, startedVisits];
  const isSame = call === before && lists.every(({ length }) => length === 0) && !beginsHold;
  if (before && isSame) return { unchanged: before };
  const { hold_id = null, hold_reason: reason = null } = before ?? {};
  const hold = beginsHold && holdWrites(context, { ...written, hold_id }, { begun_by: "platform", reason });
  return {
    writes: [
      ...(before
        ? [callWrites.update(before, { ...before, ...call })]
        : [callWrites.insert(call), countVisits({ organization_id, date: dateOf(now), count: 1 })]),
      ...(await writePeople(settings, people)),
      writeParticipants(participants.map((each) => ({ ...each, call_key: key }))),
      ...(hold ? [hold.write] : []),
      ...(erased.length > 0 ? [joinErased({ ids: JSON.stringify(erased), ...written })] : []),
      ...(startedVisits.length > 0 ? [startVisits({ ids: JSON.stringify(startedVisits), now })] : []),
      ...(consents.length > 0 ? [insertConsents(consents)] : []),
      ...(taken.length > 0 ? [deleteRefusals({ ...written, digests: JSON.stringify(taken) })] : []),
      ...(call.ended_at !== null && !before?.ended_at ? [announceRecordingsOf({ ...written, now })] : []),
      callByKey(written),
    ],
    entries: hold ? [hold.entry] : [],
  };
}

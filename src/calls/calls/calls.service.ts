import type * as z from "zod";
import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { requireFirst, runBatch } from "../../database/queries.ts";
import { endOfDate } from "../../http/dates.ts";
import { type Position, writePosition } from "../../http/pagination.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { reachOf } from "../../organization/members/members.sql.ts";
import { participantSearchEntry } from "../../rooms/visits/visits.sql.ts";
import { listQueries } from "./calls.lists.ts";
import { mergeReference } from "./calls.merge.ts";
import { callNotFound, callOwnerNotFound } from "./calls.refusals.ts";
import {
  type Call,
  type CallDetails,
  type CallPath,
  type CallsQuery,
  toCallDetails,
  type updateCallBody,
} from "./calls.schemas.ts";
import * as sql from "./calls.sql.ts";

export async function listCalls(context: ClientContext, organization_user_id: number, query: CallsQuery) {
  const { db, caller } = context;
  const owner = { ...reachOf(caller), owner_id: organization_user_id };
  const [owners, calls, [end]] = await runBatch(db, [
    sql.ownerOfPath(owner),
    ...listQueries({ ...owner, ...partOf(query), participant_digest: null }),
  ]);
  if (owners.length === 0) throw callOwnerNotFound();
  return toCallPage(query, calls, end);
}

export async function findCalls(context: ClientContext, query: CallsQuery) {
  const { db, caller, settings } = context;
  const participant_digest = await digestOfReference(settings, query.participant_reference);
  const of = { organization_id: caller.organization_id, reference_digest: participant_digest };
  const recorded = participant_digest === null ? [] : [participantSearchEntry(context, "search", of)];
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

function toCallPage({ per_page }: CallsQuery, found: Call[], end: Position | undefined) {
  const calls = found.slice(0, per_page);
  const last = calls.at(-1);
  const position = last && found.length > per_page ? { time: last.started_at, id: last.id } : end;
  return { calls, next_after: position ? writePosition(position) : null };
}

export const requireCall = ({ db, caller }: ClientContext, path: CallPath): Promise<CallDetails> =>
  requireFirst(db, sql.callDetails(sql.reachedCall(caller, path)), callNotFound);

export async function updateCall(
  context: ClientContext,
  path: CallPath,
  update: z.output<ReturnType<typeof updateCallBody>>["call"],
): Promise<CallDetails> {
  const { now, caller } = context;
  const reachedPath = sql.reachedCall(caller, path);
  const details = sql.callDetails(reachedPath);
  return decideAndWrite(
    context,
    { reference: sql.referenceOfPath(reachedPath) },
    ({ reference: [known], call: [call] }): Decision<CallDetails> => {
      if (!known || !call) throw callNotFound();
      requireUnchanged(context, toCallDetails(call));
      const external_reference = mergeReference(known, update);
      const isSame = external_reference === known.external_reference;
      const isNothingSaid = update.external_reference === undefined || known.reference_erased_at !== null;
      if (isSame && (isNothingSaid || known.reference_said_by === "organization")) return { unchanged: call };
      const { id } = known;
      return {
        writes: [sql.setReference({ id, external_reference, now }), details],
        entries: isSame ? [] : [sql.callEntry(context, "update", { id })],
      };
    },
    { unguardedReads: { call: details } },
  );
}

import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { consentsOfReport, insertConsents } from "../consents/consents.sql.ts";
import { beginHold } from "../legal_holds/legal_holds.sql.ts";
import { reachOf } from "../organization_users/organization_users.sql.ts";
import { namedKeys } from "../participants/participants.erasure.ts";
import type { ReportOnCall } from "../participants/participants.merge.ts";
import {
  joinErased,
  participantsOfReport,
  participantsPresent,
  writeParticipants,
} from "../participants/participants.sql.ts";
import { roomOfCall } from "../waiting_rooms/waiting_rooms.sql.ts";
import { type CallReport, type KnownCall, mergeCall } from "./calls.merge.ts";
import { callNotFound, callOwnerNotFound } from "./calls.refusals.ts";
import type { Call, ReportedCall } from "./calls.schemas.ts";
import {
  callByKey,
  callWrites,
  membersOfReport,
  organizationOfOwner,
  ownerOfPath,
  pageOfCalls,
  totalOfCalls,
} from "./calls.sql.ts";

/** The calls of an organization user whom the caller reaches, newest first. */
export async function listCalls(
  { db, caller }: ClientContext,
  organization_user_id: number,
  page: PageQuery,
): Promise<Page<Call>> {
  const owner = { ...reachOf(caller), owner_id: organization_user_id };
  const [owners, [counted], calls] = await runBatch(db, [
    ownerOfPath(owner),
    totalOfCalls(owner),
    pageOfCalls({ ...owner, ...pageWindow(page) }),
  ]);
  if (owners.length === 0) throw callOwnerNotFound();
  return toPage(page, counted?.total ?? 0, calls);
}

/** The call that the platform knows by this key. */
export async function requireReportedCall({ db }: Context, key: string): Promise<ReportedCall> {
  const call = await runFirst(db, callByKey({ key }));
  if (!call) throw callNotFound();
  return call;
}

/** Records what a report says of a call and its participants (see calls.merge.ts). The key is the reporter's own. */
export async function reportCall(
  { db, now, settings }: Context,
  key: string,
  report: CallReport,
): Promise<ReportedCall> {
  const slug = report.waiting_room_slug ?? null;
  const reports = report.participants ?? [];
  const keysOf = (reports: ReportOnCall[]) =>
    namedKeys(
      settings,
      reports.map((each) => each.key),
    );
  const named = await keysOf(reports);
  const deciding = await keysOf(reports.filter(({ recording_consent }) => recording_consent !== undefined));
  return decideAndWrite(
    db,
    [
      callByKey({ key }),
      roomOfCall({ slug, started_at: report.started_at ?? null }),
      organizationOfOwner({ owner_id: report.organization_user_id ?? null }),
      participantsOfReport({ key, slug, ...named.values }),
      consentsOfReport({ key, slug, ...deciding.values }),
      participantsPresent({ call_key: typeof report.ended_at === "number" ? key : "" }),
      membersOfReport({
        key,
        slug,
        user_ids: JSON.stringify(reports.flatMap(({ user_id }) => user_id ?? [])),
      }),
    ],
    ([call], [room], [owner], participants, consents, present, members) => {
      const known = {
        call,
        room,
        ownerOrganization: owner?.organization_id,
        participants: named.asReported(participants),
        consents,
        present,
        members: new Set(members.map(({ user_id }) => user_id)),
      };
      return decideCall(known, key, report, now);
    },
  );
}

/** The statements that write what a report means. LiveKit's events are such reports too (see livekit/visits.ts). */
export function decideCall(
  known: KnownCall,
  key: string,
  report: CallReport,
  now: number,
): Decision<ReportedCall> {
  const { call: before } = known;
  const { call, participants, erased, consents, beginsHold } = mergeCall(known, key, report, now);
  const isSame =
    call === before && [participants, erased, consents].every(({ length }) => length === 0) && !beginsHold;
  if (before && isSame) return { unchanged: before };
  return {
    writes: [
      before ? callWrites.update(before, { ...before, ...call }) : callWrites.insert(call),
      writeParticipants(participants.map((each) => ({ ...each, call_key: key }))),
      ...(erased.length > 0 ? [joinErased({ ids: JSON.stringify(erased), call_key: key })] : []),
      ...(consents.length > 0 ? [insertConsents(consents)] : []),
      ...(beginsHold ? [beginHold({ key, reason: null, now })] : []),
      callByKey({ key }),
    ],
  };
}

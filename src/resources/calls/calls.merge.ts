import type * as z from "zod";
import { reviseRecord } from "../../database/merging.ts";
import { unprocessable } from "../../http/errors.ts";
import {
  leaveAtEnd,
  mergeParticipantsOnCall,
  type ParticipantRecord,
  type ReportOnCall,
} from "../participants/participants.merge.ts";
import type { Participant } from "../participants/participants.schemas.ts";
import type { Call, reportCallBody } from "./calls.schemas.ts";
import type { CallRecord } from "./calls.sql.ts";

export type CallReport = Omit<z.output<typeof reportCallBody>["call"], "participants"> & {
  participants?: ReportOnCall[];
};

/** What is known when a call is reported. */
export interface KnownCall {
  /** The call with this key; undefined in the first report. */
  call: Call | undefined;
  /** The room that the report names; undefined where it names none. */
  room: { id: number; organization_id: number } | undefined;
  /** The organization of the report's organization_user_id; undefined where there is no such user. */
  ownerOrganization: number | undefined;
  /** The organization's participants whom the report names. */
  participants: Participant[];
  /** Who is on the call and has not left; needed where the report ends the call. */
  present: Participant[];
  /** The user_ids of the report's participants that are users of the organization. */
  members: Set<number>;
}

/**
 * What a report makes of a call and its participants. A field left out stays as reported before; one who is left out
 * stays too. The first report fixes the room, and with it the organization. An ended call stays ended. When it ends,
 * everybody who is still there has left.
 *
 * @returns the call, and the participants whom the report names or its end concerns; each that is known as it is,
 *   where nothing of it changes
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeCall(
  known: KnownCall,
  key: string,
  report: CallReport,
  now: number,
): { call: CallRecord; participants: ParticipantRecord[] } {
  const call = reviseRecord(known.call, mergeFields(known, key, report), now);
  const named = mergeParticipantsOnCall(
    {
      call: { ...call, id: known.call?.id ?? null },
      participants: new Map(known.participants.map((each) => [each.key, each])),
      members: known.members,
    },
    report.participants ?? [],
    now,
  );
  if (call.ended_at === null) return { call, participants: named };
  const { ended_at } = call;
  const namedKeys = new Set(named.map((each) => each.key));
  const others = known.present.filter((each) => !namedKeys.has(each.key));
  return { call, participants: [...named, ...others].map((each) => leaveAtEnd(each, ended_at, now)) };
}

function mergeFields(
  known: KnownCall,
  key: string,
  report: CallReport,
): Omit<CallRecord, "created_at" | "updated_at"> {
  const before = known.call;
  const { organization_id, id: waiting_room_id } = before
    ? { organization_id: before.organization_id, id: before.waiting_room_id }
    : (known.room ?? {});
  if (organization_id === undefined || waiting_room_id === undefined)
    throw unprocessable(
      report.waiting_room_slug === undefined
        ? "call.waiting_room_slug: the first report must name a waiting room"
        : "call.waiting_room_slug: must be the current slug of a waiting room",
    );

  const { organization_user_id, started_at, failed, legal_hold } = { ...before, ...report };
  if (organization_user_id === undefined || started_at === undefined)
    throw unprocessable("call: organization_user_id and started_at are required in the first report");
  if (report.organization_user_id !== undefined && known.ownerOrganization !== organization_id)
    throw unprocessable(
      "call.organization_user_id: is not a user of the call's organization; if another organization uses the key, report the call under a new key",
    );

  const ended_at = report.ended_at ?? before?.ended_at ?? null;
  if (ended_at !== null && ended_at < started_at)
    throw unprocessable("call.ended_at: must not be before started_at");
  return {
    organization_id,
    key,
    organization_user_id,
    waiting_room_id,
    started_at,
    ended_at,
    failed: failed ?? false,
    legal_hold: legal_hold ?? false,
  };
}

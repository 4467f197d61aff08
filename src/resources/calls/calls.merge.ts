import type * as z from "zod";
import { reviseRow } from "../../database/merging.ts";
import {
  leaveAtEnd,
  mergeParticipantsOnCall,
  type ParticipantRow,
  type ReportOnCall,
} from "../participants/participants.merge.ts";
import type { Participant } from "../participants/participants.schemas.ts";
import {
  callEndsTooEarly,
  callIncomplete,
  callNamesNoRoom,
  callNamesUnknownRoom,
  callOwnerNotMember,
} from "./calls.refusals.ts";
import type { Call, ReportedCall, reportCallBody } from "./calls.schemas.ts";

export type CallReport = Omit<z.output<typeof reportCallBody>["call"], "participants"> & {
  participants?: ReportOnCall[];
};

/** What is known when a call is reported. */
export interface KnownCall {
  /** The call with this key; undefined in the first report. */
  call: ReportedCall | undefined;
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

/** What a report makes of a call. A new one has no id yet, and nothing that was deleted. */
export type CallRow = Omit<Call, "id" | "transcript_deleted_at" | "soap_note_deleted_at"> & { id?: number };

/**
 * What a report makes of a call and its participants. A field left out stays as reported before; one who is left out
 * stays too. The first report fixes the room, and with it the organization. An ended call stays ended. When it ends,
 * everybody who is still there has left. A hold only begins by a report: nothing that a report says ends it.
 *
 * @returns the call, which is the known one itself where nothing of it changes; those who are new on it, or of whom
 *   something changes; and whether a legal hold begins
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeCall(
  known: KnownCall,
  key: string,
  report: CallReport,
  now: number,
): { call: CallRow; participants: ParticipantRow[]; beginsHold: boolean } {
  const call: CallRow = reviseRow(known.call, fieldsOfCall(known, key, report), now);
  const { ended_at } = call;
  const named = mergeParticipantsOnCall(
    {
      call: { ...call, id: call.id ?? null },
      participants: new Map(known.participants.map((each) => [each.key, each])),
      members: known.members,
    },
    report.participants ?? [],
    now,
  );
  const namedKeys = new Set(named.map((each) => each.key));
  const others = known.present.filter((each) => !namedKeys.has(each.key));
  const participants =
    ended_at === null ? named : [...named, ...others].map((each) => leaveAtEnd(each, ended_at, now));
  const unchanged = new Set<ParticipantRow>([...known.participants, ...known.present]);
  // Everybody whom a new call names joins it, though its id is not known yet.
  return {
    call,
    participants: participants.filter((each) => !known.call || !unchanged.has(each)),
    beginsHold: report.legal_hold === true && !isHeld(known.call),
  };
}

const isHeld = (call: ReportedCall | undefined) => call !== undefined && call.hold_id !== null;

function fieldsOfCall({ call, room, ownerOrganization }: KnownCall, key: string, report: CallReport) {
  const { organization_id, waiting_room_id } = call ?? {
    organization_id: room?.organization_id,
    waiting_room_id: room?.id,
  };
  if (organization_id === undefined || waiting_room_id === undefined)
    throw report.waiting_room_slug === undefined ? callNamesNoRoom() : callNamesUnknownRoom();
  const { organization_user_id, started_at, failed } = { ...call, ...report };
  if (organization_user_id === undefined || started_at === undefined) throw callIncomplete();
  if (report.organization_user_id !== undefined && ownerOrganization !== organization_id)
    throw callOwnerNotMember();
  const ended_at = report.ended_at ?? call?.ended_at ?? null;
  if (ended_at !== null && ended_at < started_at) throw callEndsTooEarly();
  return {
    organization_id,
    key,
    organization_user_id,
    waiting_room_id,
    started_at,
    ended_at,
    failed: failed ?? false,
  };
}

import type * as z from "zod";
import type { ConsentReporter } from "../../database/enums.ts";
import { reviseRow } from "../../database/merging.ts";
import { mergeConsent } from "../consents/consents.merge.ts";
import type { KnownConsent } from "../consents/consents.schemas.ts";
import type { NewConsentOfKey } from "../consents/consents.sql.ts";
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
import type { Call, reportCallBody } from "./calls.schemas.ts";

export type CallReport = Omit<z.output<typeof reportCallBody>["call"], "participants"> & {
  participants?: ReportOnCall[];
  /** By default the platform. */
  reporter?: ConsentReporter;
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
  /** The decisions on consent of those of whom the report says one, in the order in which they were reported. */
  consents: KnownConsent[];
  /** Who is on the call and has not left; needed where the report ends the call. */
  present: Participant[];
  /** The user_ids of the report's participants that are users of the organization. */
  members: Set<number>;
}

/** What a report makes of a call. A new one has no id yet. */
export type CallRow = Omit<Call, "id"> & { id?: number };

/**
 * What a report makes of a call and its participants. A field left out stays as reported before; one who is left out
 * stays too. The first report fixes the room, and with it the organization. An ended call stays ended. When it ends,
 * everybody who is still there has left.
 *
 * @returns the call, which is the known one itself where nothing of it changes; those who are new on it, or of whom
 *   something changes; and what they decided
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeCall(
  known: KnownCall,
  key: string,
  report: CallReport,
  now: number,
): { call: CallRow; participants: ParticipantRow[]; consents: NewConsentOfKey[] } {
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
  return {
    call,
    // Everybody whom a new call names joins it, though its id is not known yet.
    participants: participants.filter((each) => !known.call || !unchanged.has(each)),
    consents: mergeConsents(known, call, named, report, now),
  };
}

function mergeConsents(
  known: KnownCall,
  { organization_id, started_at }: CallRow,
  named: ParticipantRow[],
  { reporter = "platform", participants = [] }: CallReport,
  now: number,
): NewConsentOfKey[] {
  return named.flatMap(({ id, key, joined_at }, n) => {
    const ledger = known.consents.filter(({ participant_id }) => participant_id === id);
    const decided = mergeConsent(
      { ledger, present_since: joined_at ?? started_at },
      reporter,
      participants[n] ?? {},
      now,
    );
    return decided ? [{ organization_id, participant_id: id ?? null, participant_key: key, ...decided }] : [];
  });
}

function fieldsOfCall({ call, room, ownerOrganization }: KnownCall, key: string, report: CallReport) {
  const { organization_id, waiting_room_id } = call ?? {
    organization_id: room?.organization_id,
    waiting_room_id: room?.id,
  };
  if (organization_id === undefined || waiting_room_id === undefined)
    throw report.waiting_room_slug === undefined ? callNamesNoRoom() : callNamesUnknownRoom();
  const { organization_user_id, started_at, failed, legal_hold } = { ...call, ...report };
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
    legal_hold: legal_hold ?? false,
  };
}

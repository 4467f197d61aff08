import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { WAITING_LIST_RECORDED_EVERY } from "../../lifetimes.ts";
import { recordedListOfCall } from "../calls/calls.entries.ts";
import { reachOf } from "../organization_users/organization_users.sql.ts";
import { plannedOf, visitIdsOf } from "../visits/visits.reports.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import { reportedRoomOfAnySlug } from "../waiting_rooms/waiting_rooms.sql.ts";
import { mergeParticipant } from "./participants.merge.ts";
import type { Participant, ParticipantReport, WaitingParticipant } from "./participants.schemas.ts";
import {
  memberOfRoom,
  namedKeys,
  participantsOfPath,
  participantsOfRoom,
  participantWrites,
  visitsOfRoom,
} from "./participants.sql.ts";
import {
  participantsWaiting,
  rememberWaitingRead,
  roomOfPath,
  waitingEntry,
} from "./participants.waiting.ts";

/** Those on a call, by id. */
export const listParticipants = recordedListOfCall("participant", participantsOfPath);

/** Who waits in a room now, longest first. */
export async function listWaiting(context: ClientContext, slug: string): Promise<WaitingParticipant[]> {
  const { now, caller, requester } = context;
  const { api_client_id } = caller;
  const reached = { ...reachOf(caller), slug };
  const { acting_user, purpose } = requester;
  const reader = { ...reached, api_client_id, acting_user: acting_user ?? "", purpose: purpose ?? "" };
  const read = { ...reader, now, recorded_before: now - WAITING_LIST_RECORDED_EVERY };
  const [[room], waiting] = await runBatch(context.db, [
    roomOfPath(reached),
    participantsWaiting(reached),
    waitingEntry(context, "read", read),
    rememberWaitingRead(read),
  ]);
  if (!room) throw waitingRoomNotFound();
  return waiting;
}

/** Records what a report says of somebody in a waiting room (see participants.merge.ts). The key is the reporter's own. */
export async function reportParticipant(
  { db, now, settings }: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<Participant> {
  const named = await namedKeys(settings, [key]);
  return decideAndWrite(
    db,
    [
      reportedRoomOfAnySlug({ slug }),
      participantsOfRoom({ slug, ...named.values }),
      memberOfRoom({ slug, user_id: report.user_id ?? null }),
      visitsOfRoom({ slug, visit_ids: visitIdsOf([key]) }),
    ],
    ([room], found, members, visits) => {
      if (!room) throw waitingRoomNotFound();
      const [participant] = named.identify(found);
      const planned = plannedOf(visits, key);
      const known = { room, participant, planned, isMember: members.length > 0 };
      const next = mergeParticipant(known, key, report, now);
      return upsertIfChanged(participantWrites, next.id === undefined ? undefined : participant, next);
    },
  );
}

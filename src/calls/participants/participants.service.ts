import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { WAITING_LIST_RECORDED_EVERY } from "../../lifetimes.ts";
import { reachOf } from "../../organization/members/members.sql.ts";
import { plannedOf, visitIdsOf } from "../../rooms/visits/visits.reports.ts";
import { roomOfPath } from "../../rooms/waiting_rooms/waiting_rooms.reach.ts";
import { waitingRoomNotFound } from "../../rooms/waiting_rooms/waiting_rooms.refusals.ts";
import { reportedRoomOfAnySlug } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import { recordedListOfCall } from "../calls/calls.entries.ts";
import { mergeParticipant } from "./participants.merge.ts";
import type { Participant, ParticipantReport, WaitingParticipant } from "./participants.schemas.ts";
import {
  idsOnCall,
  memberOfRoom,
  namedKeys,
  participantsOfPath,
  participantsOfRoom,
  participantWrites,
  visitsOfRoom,
} from "./participants.sql.ts";
import { participantsWaiting, waitingEntry } from "./participants.waiting.ts";

export const listParticipants = recordedListOfCall("participant", participantsOfPath, idsOnCall);

export async function listWaiting(context: ClientContext, slug: string): Promise<WaitingParticipant[]> {
  const { now, caller, requester } = context;
  const { api_client_id } = caller;
  const reached = { ...reachOf(caller), slug };
  const { acting_user, purpose } = requester;
  const recorded_before = now - WAITING_LIST_RECORDED_EVERY;
  const [[room], waiting] = await runBatch(context.db, [
    roomOfPath(reached),
    participantsWaiting(reached),
    waitingEntry(context, "read", { ...reached, api_client_id, acting_user, purpose, recorded_before }),
  ]);
  if (!room) throw waitingRoomNotFound();
  return waiting;
}

/** Records a report of a participant in a waiting room (see participants.merge.ts). The key is the reporter's own. */
export async function reportParticipant(
  { db, now, settings }: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<Participant> {
  const named = await namedKeys(settings, [key]);
  return decideAndWrite(
    db,
    {
      room: reportedRoomOfAnySlug({ slug }),
      participants: participantsOfRoom({ slug, ...named.values }),
      members: memberOfRoom({ slug, user_id: report.user_id ?? null }),
      visits: visitsOfRoom({ slug, visit_ids: visitIdsOf([key]) }),
    },
    ({ room: [room], participants, members, visits }) => {
      if (!room) throw waitingRoomNotFound();
      const [participant] = named.identify(participants);
      const planned = plannedOf(visits, key);
      const known = { room, participant, planned, isMember: members.length > 0 };
      const next = mergeParticipant(known, key, report, now);
      return upsertIfChanged(participantWrites, next.id === undefined ? undefined : participant, next);
    },
  );
}

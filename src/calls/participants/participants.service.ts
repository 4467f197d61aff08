import type { ClientContext, Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { WAITING_LIST_RECORDED_EVERY } from "../../lifetimes.ts";
import { rightsOfCaller } from "../../organization/api_clients/api_clients.sql.ts";
import { reachOf } from "../../organization/members/members.sql.ts";
import { requireCorrectorStill } from "../../organization/roles/roles.policy.ts";
import { correctPerson } from "../../rooms/people/people.merge.ts";
import { writePeople } from "../../rooms/people/people.sql.ts";
import { plannedIn, plannedOf } from "../../rooms/visits/visits.reports.ts";
import { waitingRoomNotFound } from "../../rooms/waiting_rooms/waiting_rooms.refusals.ts";
import { reportedRoomOfAnySlug, roomOfPath } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import { recordedListOfCall } from "../calls/calls.entries.ts";
import { reachedCall } from "../calls/calls.sql.ts";
import { mergeParticipant, recordOf } from "./participants.merge.ts";
import { participantErased, participantNotFound } from "./participants.refusals.ts";
import {
  type ParticipantPath,
  type ParticipantReport,
  type ParticipantUpdate,
  type ShownParticipant,
  toParticipantOnCall,
  type WaitingParticipant,
} from "./participants.schemas.ts";
import * as sql from "./participants.sql.ts";
import { participantsWaiting, waitingEntry } from "./participants.waiting.ts";

export const listParticipants = recordedListOfCall("participant", sql.participantsOfPath, sql.idsOnCall);

export async function listWaiting(context: ClientContext, slug: string): Promise<WaitingParticipant[]> {
  const { db, now, caller, requester } = context;
  const { api_client_id } = caller;
  const { acting_user, purpose } = requester;
  const reached = { ...reachOf(caller), slug };
  const recent = { api_client_id, acting_user, purpose, recorded_before: now - WAITING_LIST_RECORDED_EVERY };
  const [[room], waiting] = await runBatch(db, [
    roomOfPath(reached),
    participantsWaiting(reached),
    waitingEntry(context, "read", { ...reached, ...recent }),
  ]);
  if (!room) throw waitingRoomNotFound();
  return waiting;
}

export async function updateParticipant(
  context: ClientContext,
  path: ParticipantPath,
  update: ParticipantUpdate,
): Promise<ShownParticipant> {
  const { now, caller, settings } = context;
  const reached = { ...reachedCall(caller, path), participant_id: path.participant_id };
  return decideAndWrite(
    context,
    { member: rightsOfCaller(caller), person: sql.personOfPath(reached) },
    async ({ member: [member], person: [person], shown: [shown] }) => {
      requireCorrectorStill(caller, member, participantNotFound);
      if (!person || !shown) throw participantNotFound();
      requireUnchanged(context, toParticipantOnCall(shown));
      const next = correctPerson(person, update, now, { saysNull: true, erased: participantErased });
      // An update that changes nothing only shows the participant.
      const event = next.updated_at === person.updated_at ? "read" : "update";
      return {
        writes: [
          ...(next === person ? [] : await writePeople(settings, [next])),
          sql.participantOfPath(reached),
        ],
        entries: [sql.participantEntry(context, event, reached)],
      };
    },
    { unguardedReads: { shown: sql.participantOfPath(reached) } },
  );
}

export async function reportParticipant(
  context: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<ShownParticipant> {
  const { now, settings } = context;
  const named = await sql.namedKeys(settings, [key]);
  const { visit_ids, numbers } = plannedIn([key]);
  return decideAndWrite(
    context,
    {
      room: reportedRoomOfAnySlug({ slug }),
      participants: sql.participantsOfRoom({ slug, ...named.values }),
      people: sql.peopleOfRoom({ slug, ...named.values, numbers }),
      members: sql.memberOfRoom({ slug, user_id: report.user_id ?? null }),
      visits: sql.visitsOfRoom({ slug, visit_ids }),
    },
    async ({ room: [room], participants, people, members, visits }): Promise<Decision<ShownParticipant>> => {
      if (!room) throw waitingRoomNotFound();
      const [participant] = named.identify(participants);
      const planned = plannedOf(visits, people, key);
      const person = recordOf(people, participant, planned);
      const known = { room, participant, person, planned, isMember: members.length > 0 };
      const next = mergeParticipant(known, key, report, now);
      const isSame = next.participant === participant && next.person === person;
      if (isSame && person) return { unchanged: { ...person, ...participant } };
      const { id, ...row } = next.participant;
      return {
        writes: [
          ...(next.person === person ? [] : await writePeople(settings, [next.person])),
          id !== undefined && participant
            ? sql.participantWrites.update(participant, { ...participant, ...row })
            : sql.participantWrites.insert(row),
          sql.participantByKey({ organization_id: room.organization_id, key }),
        ],
      };
    },
  );
}

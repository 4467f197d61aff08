import { eq, isNotNull, or, sql } from "drizzle-orm";
import { callReads, knownOfReport } from "../calls/calls/calls.reads.ts";
import { decideCall } from "../calls/calls/calls.service.ts";
import { calls } from "../calls/calls/calls.table.ts";
import { namedKeys, participantColumns } from "../calls/participants/participants.sql.ts";
import { participants } from "../calls/participants/participants.table.ts";
import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { hasValues } from "../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { organizationById } from "../organization/organizations/organizations.sql.ts";
import { plannedIn } from "../rooms/visits/visits.reports.ts";
import { decideAbsence, rememberClosing } from "./absences.ts";
import { closedRooms } from "./closed_rooms.table.ts";
import { stayOf } from "./connections.ts";
import { keepRefusal } from "./early_refusals.ts";
import type { RoomEvent } from "./events.ts";
import { reportOfRoomEvent, visitorIn } from "./room_events.merge.ts";
import { metadataAtFault, metadataUnusable, noOrganization } from "./rooms.refusals.ts";
import { callIdOfRoom, organizationOfRoom, type Room } from "./rooms.sql.ts";

interface Outcome {
  /** The names of unusable fields: `user_id` if it is not a user of the organization. */
  fields: string[];
  /** Why nothing except a refusal in the event was used. */
  event_fault?: string;
}

/**
 * Records who was in a room, and its closing.
 *
 * @throws ApiError 404 if no organization has the slug at the start of the room's name; 422 if there is no call with
 *   the room's sid and the metadata cannot create one
 */
export async function reportRoomEvent(context: Context, event: RoomEvent): Promise<Outcome> {
  const { db, settings, now } = context;
  const { organization_slug, room_sid, metadata, visitor, closed_at } = event;
  const named = await namedKeys(settings, visitor?.keys ?? []);
  const { keys, digests } = named.values;
  const made = "unusable" in metadata ? undefined : metadata;
  const room = { organization_slug, room_sid };
  let outcome: Outcome = { fields: [] };
  await decideAndWrite(
    db,
    {
      closing: closedRoom(room),
      everyone: everyoneInRoom({ ...room, is_asked: closed_at !== undefined || visitor?.came === false }),
      ...roomReads({
        ...room,
        slug: made?.waiting_room_slug ?? null,
        keys,
        digests,
        ...plannedIn(visitor?.keys ?? []),
        deciding_keys: keys,
        deciding_digests: digests,
        is_end: false,
        member_ids: JSON.stringify([made?.organization_user_id, visitor?.user_id]),
      }),
    },
    async ({
      closing: [closing],
      everyone,
      organization: [organization],
      ...rows
    }): Promise<Decision<unknown>> => {
      if (!organization) throw noOrganization();
      const organization_id = organization.id;
      const found = knownOfReport(named, rows);
      const { call } = found;
      const known = { ...found, organization_id, closed_at: closing?.closed_at, everyone, present: everyone };
      const person = visitorIn(event, known);
      const isStranger = visitor?.user_id && !known.members.has(visitor.user_id);
      outcome = { fields: isStranger ? ["user_id"] : [] };
      if (!call && !person) return rememberClosing(organization_id, event, closing, now);
      const fault = call ? undefined : faultOf(metadata, found);
      const kept = fault && keepRefusal(organization_id, event, named, now);
      if (kept) {
        outcome.event_fault = fault.message;
        return { writes: [kept, organizationById({ id: organization_id })] };
      }
      if (fault) throw fault;
      if (person && !stayOf(person.connections)) return decideAbsence(context, event, known, person, named);
      return decideCall(context, known, room_sid, reportOfRoomEvent(event, known, person));
    },
  );
  return outcome;
}

function faultOf(metadata: RoomEvent["metadata"], { room, members }: ReturnType<typeof knownOfReport>) {
  if ("unusable" in metadata) return metadataUnusable(metadata.unusable);
  const isMember = members.has(metadata.organization_user_id);
  const fields = [...(room ? [] : ["waiting_room_slug"]), ...(isMember ? [] : ["organization_user_id"])];
  return fields.length > 0 ? metadataUnusable(metadataAtFault(fields)) : undefined;
}

const roomReads = callReads((room: Placeholders<Room>) => ({
  organization_id: organizationOfRoom(room),
  key: room.room_sid,
  call_id: callIdOfRoom(room),
}));

/** Everyone on the call of a closed room. For other rooms, only if `is_asked`. */
const everyoneInRoom = preparedQuery((room: Placeholders<Room & { is_asked: boolean }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(
      eq(
        participants.call_id,
        selectColumn(
          calls.id,
          eq(calls.id, callIdOfRoom(room)),
          or(sql`${room.is_asked}`, isNotNull(calls.closed_at)),
        ),
      ),
    )
    .orderBy(participants.id),
);

const closedRoom = preparedQuery((room: Placeholders<Room>) =>
  builder
    .select({ closed_at: closedRooms.closed_at })
    .from(closedRooms)
    .where(hasValues(closedRooms, { organization_id: organizationOfRoom(room), room_sid: room.room_sid })),
);

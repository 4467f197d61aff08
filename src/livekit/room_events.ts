import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import type { Placeholders } from "../database/queries.ts";
import { callReads, knownOfReport } from "../resources/calls/calls.reads.ts";
import type { ReportedCall } from "../resources/calls/calls.schemas.ts";
import { decideCall } from "../resources/calls/calls.service.ts";
import { namedKeys } from "../resources/participants/participants.sql.ts";
import { visitIdsOf } from "../resources/visits/visits.reports.ts";
import type { RoomEvent } from "./events.ts";
import { reportOfRoomEvent } from "./room_events.merge.ts";
import { metadataNamesStranger, noOrganization } from "./rooms.refusals.ts";
import { callIdOfRoom, organizationOfRoom, type Room } from "./rooms.sql.ts";

/**
 * Records an event of a room whose metadata says whose call it is (see room_events.merge.ts and calls.merge.ts).
 *
 * @throws ApiError 404 if there is no organization with the slug with which the room's name begins, 422 if the metadata is not of
 *   that organization
 */
export async function reportRoomEvent(context: Context, event: RoomEvent): Promise<ReportedCall> {
  const { db, settings } = context;
  const { organization_slug, room_sid, room_name, begun_by, happened_at, organization_user_id, visitor } =
    event;
  const named = await namedKeys(settings, visitor?.keys ?? []);
  const { keys, digests } = named.values;
  return decideAndWrite(
    db,
    visitReads({
      organization_slug,
      room_sid,
      room_name,
      begun_by,
      happened_at,
      started_at: event.started_at,
      slug: event.waiting_room_slug,
      keys,
      digests,
      visit_ids: visitIdsOf(visitor?.keys ?? []),
      deciding_keys: keys,
      deciding_digests: digests,
      is_end: event.ended_at !== undefined,
      member_ids: JSON.stringify([organization_user_id, visitor?.user_id]),
    }),
    ([organization], [call], ...rows): Decision<ReportedCall> => {
      if (!organization) throw noOrganization();
      const known = { organization_id: organization.id, call, ...knownOfReport(named, rows) };
      if (!known.members.has(organization_user_id)) throw metadataNamesStranger();
      return decideCall(context, known, call?.key ?? room_sid, reportOfRoomEvent(event, known));
    },
  );
}

const visitReads = callReads((room: Placeholders<Room>) => ({
  organization_id: organizationOfRoom(room),
  call_id: callIdOfRoom(room),
}));

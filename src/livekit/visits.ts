import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import type { Placeholders } from "../database/queries.ts";
import { callReads, knownOfReport } from "../resources/calls/calls.reads.ts";
import type { ReportedCall } from "../resources/calls/calls.schemas.ts";
import { decideCall } from "../resources/calls/calls.service.ts";
import { namedKeys } from "../resources/participants/participants.sql.ts";
import type { VisitEvent } from "./events.ts";
import { metadataNamesStranger, noOrganization } from "./rooms.refusals.ts";
import { callIdOfRoom, organizationOfRoom, type Room } from "./rooms.sql.ts";
import { reportOfVisit } from "./visits.merge.ts";

/**
 * Records an event of a room whose metadata says whose visit it is (see visits.merge.ts and calls.merge.ts).
 *
 * @throws ApiError 404 if there is no organization with the slug with which the room's name begins, 422 if the metadata is not of
 *   that organization
 */
export async function reportVisit(context: Context, visit: VisitEvent): Promise<ReportedCall> {
  const { db, settings } = context;
  const { organization_slug, room_sid, room_name, begun_by, happened_at, organization_user_id, visitor } =
    visit;
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
      started_at: visit.started_at,
      slug: visit.waiting_room_slug,
      keys,
      digests,
      deciding_keys: keys,
      deciding_digests: digests,
      is_end: visit.ended_at !== undefined,
      member_ids: JSON.stringify([organization_user_id, visitor?.user_id]),
    }),
    ([organization], [call], ...rows): Decision<ReportedCall> => {
      if (!organization) throw noOrganization();
      const known = { organization_id: organization.id, call, ...knownOfReport(named, rows) };
      if (!known.members.has(organization_user_id)) throw metadataNamesStranger();
      return decideCall(context, known, call?.key ?? room_sid, reportOfVisit(visit, known));
    },
  );
}

const visitReads = callReads((room: Placeholders<Room>) => ({
  organization_id: organizationOfRoom(room),
  call_id: callIdOfRoom(room),
}));

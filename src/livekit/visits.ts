import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { unprocessable } from "../http/errors.ts";
import type { KnownCall } from "../resources/calls/calls.merge.ts";
import type { ReportedCall } from "../resources/calls/calls.schemas.ts";
import { decideCall } from "../resources/calls/calls.service.ts";
import { membersOfReport, organizationOfOwner } from "../resources/calls/calls.sql.ts";
import { consentsOfReport } from "../resources/consents/consents.sql.ts";
import { namedKeys } from "../resources/participants/participants.erasure.ts";
import { participantsOfReport, participantsPresent } from "../resources/participants/participants.sql.ts";
import { roomOfCall } from "../resources/waiting_rooms/waiting_rooms.sql.ts";
import type { VisitEvent } from "./events.ts";
import { callOfRoom, organizationOfSlug } from "./rooms.sql.ts";
import { reportOfVisit } from "./visits.merge.ts";

/**
 * Records an event of a room whose metadata says whose visit it is (see visits.merge.ts and calls.merge.ts).
 *
 * @throws ApiError 422 if the metadata, the call and the visitor are not of one organization
 */
export async function reportVisit(context: Context, visit: VisitEvent): Promise<ReportedCall> {
  const { db, now, settings } = context;
  const { room_sid: sid, room_name: name, waiting_room_slug: slug, organization_user_id, visitor } = visit;
  const isEnd = visit.ended_at !== undefined;
  const keys = await namedKeys(settings, visitor?.keys ?? []);
  return decideAndWrite(
    db,
    [
      callOfRoom({ sid, name }),
      roomOfCall({ slug, started_at: visit.started_at }),
      organizationOfSlug({ slug }),
      organizationOfOwner({ owner_id: organization_user_id }),
      participantsOfReport({ key: sid, slug, ...keys.values }),
      consentsOfReport({ key: sid, slug, ...keys.values }),
      participantsPresent({ call_key: isEnd ? sid : "" }),
      participantsPresent({ call_key: isEnd ? name : "" }),
      membersOfReport({ key: sid, slug, user_ids: JSON.stringify([visitor?.user_id ?? null]) }),
    ],
    (
      [found],
      [room],
      [named],
      [owner],
      participants,
      consents,
      presentBySid,
      presentByName,
      members,
    ): Decision<ReportedCall> => {
      // A call by the room's name is another one if it is of another organization. The waiting room may have a new name.
      const call =
        found?.key === sid || found?.organization_id === named?.organization_id ? found : undefined;
      const present = [...presentBySid, ...presentByName].filter(({ call_id }) => call_id === call?.id);
      const ownerOrganization = owner?.organization_id;
      requireOneOrganization(call, named, ownerOrganization);
      const known: KnownCall = {
        call,
        room,
        ownerOrganization,
        participants: keys.asReported(participants),
        consents,
        present,
        members: new Set(members.map(({ user_id }) => user_id)),
      };
      return decideCall(context, known, call?.key ?? sid, reportOfVisit(visit, known, now));
    },
  );
}

type OfOrganization = { organization_id: number } | undefined;

function requireOneOrganization(call: OfOrganization, room: OfOrganization, owner: number | undefined) {
  if (!call) return;
  if (owner !== call.organization_id || (room && room.organization_id !== call.organization_id))
    throw unprocessable("The room's metadata does not name the organization of the call");
}

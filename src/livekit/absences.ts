import { and, eq, notExists } from "drizzle-orm";
import { callNamesUnknownRoom } from "../calls/calls/calls.refusals.ts";
import { callWrites } from "../calls/calls/calls.sql.ts";
import { calls } from "../calls/calls/calls.table.ts";
import { legalHolds } from "../calls/legal_holds/legal_holds.table.ts";
import { NEWEST, NOBODY } from "../calls/participants/participants.merge.ts";
import { type NamedKeys, participantWrites } from "../calls/participants/participants.sql.ts";
import { participants } from "../calls/participants/participants.table.ts";
import type { Context } from "../context.ts";
import type { Decision } from "../database/decide_and_write.ts";
import { insertRows } from "../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { organizationById } from "../organization/organizations/organizations.sql.ts";
import { callTexts } from "../results/call_texts/call_texts.table.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { newPerson } from "../rooms/people/people.merge.ts";
import { writePeople } from "../rooms/people/people.sql.ts";
import { plannedOf } from "../rooms/visits/visits.reports.ts";
import { closedRooms } from "./closed_rooms.table.ts";
import { keepRefusal } from "./early_refusals.ts";
import type { RoomEvent } from "./events.ts";
import { type KnownOfRoom, type KnownVisitor, mergeAbsence, STRANGER } from "./room_events.merge.ts";

/**
 * Takes a person who never came off the call. Their row stays, so that a late event of the same connection does not
 * bring them back. If nobody else was on the call, and only LiveKit has reported it, the call is deleted.
 */
export async function decideAbsence(
  { settings, now }: Context,
  event: RoomEvent,
  known: KnownOfRoom & { organization_id: number; room: { id: number } | undefined },
  person: KnownVisitor,
  named: NamedKeys,
): Promise<Decision<unknown>> {
  const { organization_id, call, room } = known;
  const absence = mergeAbsence(event, known, person, now);
  if (!absence) return { unchanged: undefined };
  const waiting_room_id = call?.waiting_room_id ?? room?.id;
  if (waiting_room_id === undefined) throw callNamesUnknownRoom();
  const kept = keepRefusal(organization_id, event, named, now);
  const { before, key } = person;
  const { participant, times, is_last } = absence;
  const record = plannedOf(known.planned, known.people, key)?.person;
  const stranger = newPerson({ ...STRANGER, organization_id, display_name: key }, now);
  const someone = {
    ...NOBODY,
    key,
    person_id: record?.id ?? NEWEST,
    earlier_stay_until: null,
    reported_at: 0,
    ...participant,
    organization_id,
    waiting_room_id,
  };
  const { closed_at = null, ...others } = { closed_at: call?.closed_at, ...times };
  return {
    writes: [
      ...(before || record ? [] : await writePeople(settings, [stranger])),
      before
        ? participantWrites.update(before, { ...before, ...participant })
        : participantWrites.insert({ ...someone, created_at: now }),
      ...(call ? [callWrites.update(call, { ...call, ...others, closed_at, updated_at: now })] : []),
      ...(call && is_last ? [deleteEmptyCall({ id: call.id })] : []),
      ...(is_last && closed_at !== null ? [writeClosing(organization_id, event, closed_at, now)] : []),
      ...(kept ? [kept] : []),
      organizationById({ id: organization_id }),
    ],
  };
}

/** Records that a room without a known call was closed, for later events of its participants. */
export function rememberClosing(
  organization_id: number,
  event: RoomEvent,
  known: { closed_at: number } | undefined,
  now: number,
): Decision<unknown> {
  const { closed_at = 0 } = event;
  if (known && known.closed_at >= closed_at) return { unchanged: undefined };
  return {
    writes: [writeClosing(organization_id, event, closed_at, now), organizationById({ id: organization_id })],
  };
}

const writeClosing = (organization_id: number, { room_sid }: RoomEvent, closed_at: number, now: number) =>
  writeClosedRooms([{ organization_id, room_sid, closed_at, created_at: now, updated_at: now }]);

const writeClosedRooms = insertRows(closedRooms, { uniqueBy: ["organization_id", "room_sid"] });

/** A call with a row in one of these tables is not deleted. */
const KEEPING = [participants, egresses, callTexts, legalHolds];

const deleteEmptyCall = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder
    .delete(calls)
    .where(
      and(
        eq(calls.id, id),
        eq(calls.reported_at, 0),
        ...KEEPING.map((table) => notExists(selectColumn(table.id, eq(table.call_id, calls.id)))),
      ),
    ),
);

import { and, eq, notExists } from "drizzle-orm";
import type { KnownCall } from "../calls/calls/calls.merge.ts";
import { callReads, decideCall, knownOfReport } from "../calls/calls/calls.reports.ts";
import { callWrites } from "../calls/calls/calls.sql.ts";
import { calls } from "../calls/calls/calls.table.ts";
import { keepRefusal } from "../calls/consents/consents.sql.ts";
import { legalHolds } from "../calls/legal_holds/legal_holds.table.ts";
import { namedKeys, participantWrites } from "../calls/participants/participants.sql.ts";
import { participants } from "../calls/participants/participants.table.ts";
import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { organizationById } from "../organization/organizations/organizations.sql.ts";
import { callTexts } from "../results/call_texts/call_texts.table.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { plannedIn } from "../rooms/visits/visits.reports.ts";
import { stayOf } from "./connections.ts";
import type { RoomEvent } from "./events.ts";
import * as merge from "./room_events.merge.ts";
import * as rooms from "./rooms.ts";

interface Outcome {
  fields: string[];
  /** Why nothing except a refusal in the event was used. */
  event_fault?: string;
}

/**
 * Records who was in a room, and its closing: remembers the event, and reports the call as the platform would.
 *
 * @throws ApiError 404 if no organization has the slug at the start of the room's name; 422 if there is no call with
 *   the room's sid and the metadata cannot create one
 */
export async function reportRoomEvent(context: Context, event: RoomEvent): Promise<Outcome> {
  const { settings } = context;
  const { organization_slug, room_sid, metadata, visitor, closed_at } = event;
  const named = await namedKeys(settings, visitor?.keys ?? []);
  const { keys, digests } = named.values;
  const made = "unusable" in metadata ? undefined : metadata;
  const room = { organization_slug, room_sid, digests };
  const whole = { ...room, is_whole: closed_at !== undefined || visitor?.came === false };
  let outcome: Outcome = { fields: [] };
  await decideAndWrite(
    context,
    {
      memory: rooms.roomMemory(room),
      visitors: rooms.visitorsByDigests(room),
      others: rooms.allVisitors(whole),
      everyone: rooms.everyoneOnCall(whole),
      ...roomReads({
        ...room,
        slug: made?.waiting_room_slug ?? null,
        keys,
        ...plannedIn(visitor?.keys ?? []),
        deciding_keys: keys,
        deciding_digests: digests,
        is_end: false,
        member_ids: JSON.stringify([made?.organization_user_id, visitor?.user_id]),
      }),
    },
    async (rows): Promise<Decision<unknown>> => {
      const { everyone } = rows;
      const [organization] = rows.organization;
      const [memory] = rows.memory;
      if (!organization) throw rooms.noOrganization();
      const found = knownOfReport(named, rows);
      const keysOnCall = everyone.map(({ key }) => key);
      const onCall = await namedKeys(settings, keysOnCall);
      const stored = [...rows.others, ...rows.visitors];
      const connections = new Map(stored.map((each) => [each.key_digest, each.connections]));
      const known: Known = {
        ...{ ...found, organization_id: organization.id, memory, everyone, present: everyone },
        // The key of an erased participant is a digest already.
        connectionsOf: (key) =>
          [named.digestOf(key), onCall.digestOf(key), key]
            .map((each) => connections.get(each))
            .find(Boolean) ?? [],
      };
      outcome = { fields: visitor?.user_id && !known.members.has(visitor.user_id) ? ["user_id"] : [] };
      return decideRoomEvent(context, event, known, named.digestOf, outcome);
    },
  );
  return outcome;
}

type Known = KnownCall & merge.KnownOfRoom;

/** Sets the fault of `outcome` if only a refusal was used. */
async function decideRoomEvent(
  context: Context,
  event: RoomEvent,
  known: Known,
  digestOf: (key: string) => string,
  outcome: Outcome,
): Promise<Decision<unknown>> {
  const { now } = context;
  const { call, organization_id } = known;
  const person = merge.visitorIn(event, known);
  const last = organizationById({ id: organization_id });
  const key_digest = digestOf(person?.key ?? "");
  const remember = (ended_at?: number | null) =>
    memoryWrites(event, known, person, key_digest, ended_at, now);
  if (!call && !person) {
    const writes = remember();
    return writes.length > 0 ? { writes: [...writes, last] } : { unchanged: undefined };
  }
  const fault = call ? undefined : faultOf(event.metadata, known);
  const isAbsent = person && !stayOf(person.connections);
  const refusal = fault || isAbsent ? merge.earlyRefusalIn(event, digestOf) : undefined;
  const since = { organization_id, unclaimed_since: now, created_at: now };
  const kept = refusal ? [keepRefusal({ ...refusal, ...since })] : [];
  if (fault && !refusal) throw fault;
  if (fault) {
    outcome.event_fault = fault.message;
    return { writes: [...kept, last] };
  }
  if (isAbsent) {
    const absence = merge.mergeAbsence(event, known, person, now);
    if (!absence) return { unchanged: undefined };
    const { participant, times, is_last } = absence;
    return {
      writes: [
        ...remember(times.ended_at),
        ...(person.before && participant ? [participantWrites.update(person.before, participant)] : []),
        ...(call ? [callWrites.update(call, { ...call, ...times, updated_at: now })] : []),
        ...(call && is_last ? [deleteEmptyCall({ id: call.id })] : []),
        ...kept,
        last,
      ],
    };
  }
  const report = merge.reportOfRoomEvent(event, known, person);
  const remembered = remember(report.ended_at);
  const decision = await decideCall(context, known, event.room_sid, report);
  if (remembered.length === 0) return decision;
  return "writes" in decision
    ? { ...decision, writes: [...remembered, ...decision.writes] }
    : { writes: [...remembered, last] };
}

function faultOf(metadata: RoomEvent["metadata"], { room, members }: Known) {
  if ("unusable" in metadata) return rooms.metadataUnusable(metadata.unusable);
  const isMember = members.has(metadata.organization_user_id);
  const fields = [...(room ? [] : ["waiting_room_slug"]), ...(isMember ? [] : ["organization_user_id"])];
  return fields.length > 0 ? rooms.metadataUnusable(rooms.metadataAtFault(fields)) : undefined;
}

/** @param ended_at the end that the event gives the call, if any */
function memoryWrites(
  event: RoomEvent,
  known: Known,
  person: merge.KnownVisitor | undefined,
  key_digest: string,
  ended_at: number | null | undefined,
  now: number,
): BoundQuery<unknown>[] {
  const { organization_id, memory } = known;
  const row = { organization_id, room_sid: event.room_sid, created_at: now, updated_at: now };
  const closed_at = merge.closingAfter(event, known);
  const call_ended_at = ended_at ?? memory?.call_ended_at ?? null;
  const isSame = closed_at === memory?.closed_at && call_ended_at === (memory?.call_ended_at ?? null);
  return [
    ...(closed_at === undefined || isSame
      ? []
      : [rooms.rememberRooms([{ ...row, closed_at, call_ended_at }])]),
    ...(!person || person.is_repeated
      ? []
      : [rooms.rememberVisitors([{ ...row, key_digest, connections: person.connections }])]),
  ];
}

/** Deletes a call that only LiveKit has reported, unless it has a row in another table. */
const deleteEmptyCall = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder
    .delete(calls)
    .where(
      and(
        eq(calls.id, id),
        eq(calls.reported_at, 0),
        ...[participants, egresses, callTexts, legalHolds].map((table) =>
          notExists(selectColumn(table.id, eq(table.call_id, calls.id))),
        ),
      ),
    ),
);

const roomReads = callReads((room: Placeholders<rooms.Room>) => ({
  organization_id: rooms.organizationOfRoom(room),
  key: room.room_sid,
  call_id: rooms.callIdOfRoom(room),
}));

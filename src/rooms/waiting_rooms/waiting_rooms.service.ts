import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { requireFirst, runBatch } from "../../database/queries.ts";
import { kebabCase } from "../../database/slug.ts";
import { requireVersion } from "../../http/preconditions.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { countDeletion } from "../../organization/usage/usage.quotas.ts";
import { destinationOf } from "../waiting_room_subs/waiting_room_subs.merge.ts";
import { activeSub } from "../waiting_room_subs/waiting_room_subs.sql.ts";
import { FALLBACK_SLUG_NAME, mergeWaitingRoom, newWaitingRoom, retireRoom } from "./waiting_rooms.merge.ts";
import { waitingRoomNotFound } from "./waiting_rooms.refusals.ts";
import {
  type CreateRoom,
  type ResolvedWaitingRoom,
  toWaitingRoom,
  type UpdateRoom,
  type WaitingRoom,
  type WaitingRoomsQuery,
} from "./waiting_rooms.schemas.ts";
import * as sql from "./waiting_rooms.sql.ts";

export const listWaitingRooms = ({ db, caller }: ClientContext, query: WaitingRoomsQuery) =>
  sql.readRooms(db, { organization_id: caller.organization_id }, query);

export const requireWaitingRoom = ({ db, caller: { organization_id } }: ClientContext, slug: string) =>
  requireFirst(db, sql.roomBySlug({ organization_id, slug }), waitingRoomNotFound);

export async function resolveWaitingRoom({ db, now }: Context, slug: string): Promise<ResolvedWaitingRoom> {
  const [[room], [active_sub]] = await runBatch(db, [sql.roomToEnter({ slug }), activeSub({ slug, now })]);
  if (!room) throw waitingRoomNotFound();
  if (room.is_suspended) throw organizationSuspended();
  return {
    room,
    active_sub: active_sub ?? null,
    destination_slug: destinationOf(active_sub?.way ?? [room.slug]),
  };
}

export async function createWaitingRoom(context: ClientContext, input: CreateRoom): Promise<WaitingRoom> {
  const { now, settings, caller } = context;
  const known = {
    organization_id: caller.organization_id,
    slug_name: await kebabCase(input.name, FALLBACK_SLUG_NAME),
    settings,
  };
  const insert = sql.waitingRoomWrites.insert(newWaitingRoom(known, input, now));
  const idempotency = await sql.waitingRoomIdempotency(context, {});
  return decideAndWrite(context, {}, () => ({ writes: [insert] }), { idempotency });
}

export async function updateWaitingRoom(context: ClientContext, slug: string, input: UpdateRoom) {
  const { now, settings, caller } = context;
  const { organization_id } = caller;
  const slug_name = input.name === undefined ? "" : await kebabCase(input.name, FALLBACK_SLUG_NAME);
  const path = { organization_id, slug };
  return decideAndWrite(
    context,
    { room: sql.waitingRoomRow(path) },
    ({ room: [room], shown: [shown] }) => {
      if (!room || !shown) throw waitingRoomNotFound();
      requireVersion(context, room);
      requireUnchanged(context, toWaitingRoom(shown));
      const next = mergeWaitingRoom({ room, slug_name, settings }, input, now);
      return { writes: [sql.waitingRoomWrites.update(room, next)] };
    },
    { unguardedReads: { shown: sql.roomBySlug(path) } },
  );
}

export async function retireWaitingRoom(context: ClientContext, slug: string): Promise<void> {
  const { now, caller } = context;
  const path = { organization_id: caller.organization_id, slug };
  const reads = { room: sql.waitingRoomRow(path), uses: sql.useOfRoom(path) };
  await decideAndWrite(context, reads, ({ room: [room], uses }) => {
    if (!room) throw waitingRoomNotFound();
    requireVersion(context, room);
    const retired = retireRoom(room, uses.length > 0, now);
    return { writes: [countDeletion(context), sql.waitingRoomWrites.update(room, retired)] };
  });
}

import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { countDeletion } from "../../organization/usage/usage.quotas.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import { mergeSub, newSub } from "./waiting_room_subs.merge.ts";
import { subNotFound } from "./waiting_room_subs.refusals.ts";
import type { CreateSub, UpdateSub, WaitingRoomSub } from "./waiting_room_subs.schemas.ts";
import * as sql from "./waiting_room_subs.sql.ts";

export async function listWaitingRoomSubs({ db, now, caller }: ClientContext, slug: string) {
  const path = { organization_id: caller.organization_id, slug };
  const [[room], subs] = await runBatch(db, [sql.roomOfSub(path), sql.subsFromNow({ ...path, now })]);
  if (!room) throw waitingRoomNotFound();
  return subs;
}

/** @param id 0 for a new sub */
function readsOfSub(
  { now, caller: { organization_id } }: ClientContext,
  slug: string,
  id: number,
  { user_id, datetime_start }: Pick<UpdateSub, "user_id" | "datetime_start">,
) {
  const path = { organization_id, slug };
  return {
    room: sql.roomOfSub(path),
    substituteRoom: sql.roomOfSubstitute({ organization_id, user_id: user_id ?? null }),
    next: sql.nextSub({ ...path, id, start: datetime_start ?? null }),
    quota: sql.subQuota({ ...path, now }),
  };
}

export async function createWaitingRoomSub(context: ClientContext, slug: string, input: CreateSub) {
  const { now, caller } = context;
  const { organization_id } = caller;
  return decideAndWrite(
    context,
    readsOfSub(context, slug, 0, input),
    ({ room: [room], substituteRoom: [substituteRoom], next: [nextSub], quota: [quota] }) => {
      if (!room) throw waitingRoomNotFound();
      const known = { organization_id, room, substituteRoom, nextSub, isFull: quota?.is_full ?? false };
      return { writes: [sql.subWrites.insert(newSub(known, input, now))] };
    },
    { idempotency: await sql.subIdempotency(context, {}) },
  );
}

export async function updateWaitingRoomSub(
  context: ClientContext,
  slug: string,
  id: number,
  input: UpdateSub,
): Promise<WaitingRoomSub> {
  const { now, caller } = context;
  const path = { organization_id: caller.organization_id, slug, id };
  return decideAndWrite(
    context,
    { sub: sql.subRow(path), ...readsOfSub(context, slug, id, input) },
    ({ sub: [sub], room: [room], substituteRoom: [substituteRoom], next: [nextSub], quota: [quota] }) => {
      if (!room) throw waitingRoomNotFound();
      if (!sub) throw subNotFound();
      requireUnchanged(context, sub);
      const isFull = quota?.is_full ?? false;
      const next = mergeSub({ sub, room, substituteRoom, nextSub, isFull }, input, now);
      return { writes: [sql.subWrites.update(sub, { ...sub, ...next })] };
    },
  );
}

export async function deleteWaitingRoomSub(context: ClientContext, slug: string, id: number): Promise<void> {
  const path = { organization_id: context.caller.organization_id, slug, id };
  await decideAndWrite(context, { sub: sql.subRow(path) }, ({ sub: [sub] }) => {
    if (!sub) throw subNotFound();
    return { writes: [countDeletion(context), sql.deleteSub(path)] };
  });
}

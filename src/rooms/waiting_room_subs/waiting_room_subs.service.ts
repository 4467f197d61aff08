import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { countDeletion } from "../../organization/usage/usage.quotas.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import { mergeSub, newSub } from "./waiting_room_subs.merge.ts";
import { subNotFound } from "./waiting_room_subs.refusals.ts";
import type {
  createWaitingRoomSubBody,
  updateWaitingRoomSubBody,
  WaitingRoomSub,
} from "./waiting_room_subs.schemas.ts";
import {
  deleteSub,
  nextSub,
  roomOfSub,
  roomOfSubstitute,
  subIdempotency,
  subQuota,
  subRow,
  subsFromNow,
  subWrites,
} from "./waiting_room_subs.sql.ts";

export async function listWaitingRoomSubs(
  { db, now, caller: { organization_id } }: ClientContext,
  slug: string,
): Promise<WaitingRoomSub[]> {
  const path = { organization_id, slug };
  const [[room], subs] = await runBatch(db, [roomOfSub(path), subsFromNow({ ...path, now })]);
  if (!room) throw waitingRoomNotFound();
  return subs;
}

export async function createWaitingRoomSub(
  context: ClientContext,
  slug: string,
  input: z.output<ReturnType<typeof createWaitingRoomSubBody>>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  const { db, now, caller } = context;
  const { organization_id } = caller;
  return decideAndWrite(
    db,
    {
      room: roomOfSub({ organization_id, slug }),
      substituteRoom: roomOfSubstitute({ organization_id, user_id: input.user_id }),
      next: nextSub({ organization_id, slug, id: 0, start: input.datetime_start }),
      quota: subQuota({ organization_id, slug, now }),
    },
    ({ room: [room], substituteRoom: [substituteRoom], next: [nextSub], quota: [quota] }) => {
      if (!room) throw waitingRoomNotFound();
      const isFull = quota?.is_full ?? false;
      const known = { organization_id, room, substituteRoom, nextSub, isFull };
      return { writes: [subWrites.insert(newSub(known, input, now))] };
    },
    { idempotency: await subIdempotency(context, {}) },
  );
}

export async function updateWaitingRoomSub(
  context: ClientContext,
  slug: string,
  id: number,
  input: z.output<ReturnType<typeof updateWaitingRoomSubBody>>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  const { db, now, caller } = context;
  const { organization_id } = caller;
  return decideAndWrite(
    db,
    {
      sub: subRow({ organization_id, slug, id }),
      room: roomOfSub({ organization_id, slug }),
      substituteRoom: roomOfSubstitute({ organization_id, user_id: input.user_id ?? null }),
      next: nextSub({ organization_id, slug, id, start: input.datetime_start ?? null }),
      quota: subQuota({ organization_id, slug, now }),
    },
    ({ sub: [sub], room: [room], substituteRoom: [substituteRoom], next: [nextSub], quota: [quota] }) => {
      if (!room) throw waitingRoomNotFound();
      if (!sub) throw subNotFound();
      requireUnchanged(context, sub);
      const isFull = quota?.is_full ?? false;
      const next = mergeSub({ sub, room, substituteRoom, nextSub, isFull }, input, now);
      return { writes: [subWrites.update(sub, { ...sub, ...next })] };
    },
  );
}

export async function deleteWaitingRoomSub(context: ClientContext, slug: string, id: number): Promise<void> {
  const path = { organization_id: context.caller.organization_id, slug, id };
  await decideAndWrite(context.db, { sub: subRow(path) }, ({ sub: [sub] }) => {
    if (!sub) throw subNotFound();
    return { writes: [countDeletion(context), deleteSub(path)] };
  });
}

import { and, asc, eq, exists, gt, notExists, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { namedCreation } from "../../database/creations.ts";
import { builder, namedQuery, type Placeholders, runBatch, runFirst } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { waitingRoomSubs } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { DEFAULT_SUB_DURATION } from "../../limits.ts";
import { ownRoomId, waitingRoomMissing } from "../waiting_rooms/waiting_rooms.sql.ts";
import type {
  createWaitingRoomSubBody,
  updateWaitingRoomSubBody,
  WaitingRoomSub,
} from "./waiting_room_subs.schemas.ts";
import { subRules, waitingRoomSubColumns } from "./waiting_room_subs.sql.ts";

/** The subs of a room that are not over yet, soonest first. */
export async function listWaitingRoomSubs(
  { db, now, caller: { organization_id } }: ClientContext,
  slug: string,
): Promise<WaitingRoomSub[]> {
  const [[room], subs] = await runBatch(db, [
    roomId({ organization_id, slug }),
    subsFromNow({ organization_id, slug, now }),
  ]);
  if (!room) throw notFound("Waiting room");
  return subs;
}

/** Which room a path names, as values of a query. */
interface RoomPath {
  organization_id: number;
  slug: string;
}

const roomId = namedQuery(({ organization_id, slug }: Placeholders<RoomPath>) =>
  ownRoomId(organization_id, slug),
);

const subsFromNow = namedQuery(({ organization_id, slug, now }: Placeholders<RoomPath & { now: number }>) =>
  builder
    .select(waitingRoomSubColumns)
    .from(waitingRoomSubs)
    .where(
      and(
        eq(waitingRoomSubs.waiting_room_id, ownRoomId(organization_id, slug)),
        gt(waitingRoomSubs.datetime_end, now),
      ),
    )
    .orderBy(asc(waitingRoomSubs.datetime_end)),
);

export async function createWaitingRoomSub(
  context: ClientContext,
  slug: string,
  { user_id, datetime_start, datetime_end }: z.output<typeof createWaitingRoomSubBody>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  return insertSub(context, {
    organization_id: context.caller.organization_id,
    slug,
    user_id,
    datetime_start,
    datetime_end: datetime_end ?? datetime_start + DEFAULT_SUB_DURATION,
    now: context.now,
  });
}

interface NewSub extends RoomPath {
  user_id: number;
  datetime_start: number;
  datetime_end: number;
  now: number;
}

const insertSub = namedCreation(
  { table: waitingRoomSubs, columns: waitingRoomSubColumns },
  ({ organization_id, slug, user_id, datetime_start, datetime_end, now }: Placeholders<NewSub>) => ({
    rules: [
      waitingRoomMissing(organization_id, slug),
      ...subRules({ organization_id, slug, id: 0, user_id, datetime_start, datetime_end }),
    ],
    statements: [
      builder
        .insert(waitingRoomSubs)
        .values({
          organization_id,
          waiting_room_id: sql`${ownRoomId(organization_id, slug)}`,
          user_id,
          datetime_start,
          datetime_end,
          created_at: now,
          updated_at: now,
        })
        .returning(waitingRoomSubColumns),
    ],
  }),
);

/** A field left out stays; a null user_id empties the sub. */
export async function updateWaitingRoomSub(
  { db, now, caller: { organization_id } }: ClientContext,
  slug: string,
  id: number,
  { user_id, datetime_start, datetime_end }: z.output<typeof updateWaitingRoomSubBody>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  return updateSub(db, {
    organization_id,
    slug,
    id,
    keeps_user: user_id === undefined,
    user_id: user_id ?? null,
    datetime_start: datetime_start ?? null,
    datetime_end: datetime_end ?? null,
    now,
  });
}

interface SubPath extends RoomPath {
  id: number;
}

/** A time of null stays as it is, and the user where the sub keeps them. */
interface SubChange extends SubPath {
  keeps_user: boolean;
  user_id: number | null;
  datetime_start: number | null;
  datetime_end: number | null;
  now: number;
}

const updateSub = namedWrite((change: Placeholders<SubChange>) => {
  const { organization_id, slug, id, keeps_user, user_id, datetime_start, datetime_end, now } = change;
  const next = {
    user_id: sql`case when ${keeps_user} then ${waitingRoomSubs.user_id} else ${user_id} end`,
    datetime_start: sql`coalesce(${datetime_start}, ${waitingRoomSubs.datetime_start})`,
    datetime_end: sql`coalesce(${datetime_end}, ${waitingRoomSubs.datetime_end})`,
  };
  const ownSubWhere = (condition?: SQL) =>
    builder
      .select({ id: waitingRoomSubs.id })
      .from(waitingRoomSubs)
      .where(and(ownSub(change), condition));
  return {
    rules: [
      waitingRoomMissing(organization_id, slug),
      { broken: notExists(ownSubWhere()), refusal: () => notFound("Waiting room sub") },
      ...subRules({ organization_id, slug, id, ...next }).map(({ broken, refusal }) => ({
        broken: exists(ownSubWhere(broken)),
        refusal,
      })),
    ],
    statements: [
      builder
        .update(waitingRoomSubs)
        .set({ ...next, updated_at: sql`${now}` })
        .where(ownSub(change))
        .returning(waitingRoomSubColumns),
    ],
  };
});

export async function deleteWaitingRoomSub(
  { db, caller: { organization_id } }: ClientContext,
  slug: string,
  id: number,
): Promise<void> {
  const deleted = await runFirst(db, deleteSub({ organization_id, slug, id }));
  if (!deleted) throw notFound("Waiting room sub");
}

const deleteSub = namedQuery((path: Placeholders<SubPath>) =>
  builder.delete(waitingRoomSubs).where(ownSub(path)).returning({ id: waitingRoomSubs.id }),
);

/** True for the sub of the path. */
function ownSub({ organization_id, slug, id }: Placeholders<SubPath>): SQL | undefined {
  return and(
    eq(waitingRoomSubs.id, id),
    eq(waitingRoomSubs.waiting_room_id, ownRoomId(organization_id, slug)),
  );
}

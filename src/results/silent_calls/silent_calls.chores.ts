import {
  and,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  max,
  notExists,
  notInArray,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { announceRecordings } from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { latestTime } from "../../calls/participants/participants.sql.ts";
import { leaveAtEnd } from "../../calls/participants/participants.stays.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { scalar } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, newTurn, type Turn, takeShares } from "../../database/turns.ts";
import { ROOM_SILENCE, SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CALLS_ENDED } from "../../tuning.ts";
import { isTextOf } from "../call_texts/call_texts.sql.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";
import { egresses } from "../egresses/egresses.table.ts";
import { assumedEnd } from "./silent_calls.merge.ts";

interface Silence extends Turn {
  /** The time since which nothing was reported. */
  since: number;
  /** The sids of LiveKit's open rooms, as a JSON array, to select only calls of other rooms; null for all calls. */
  open_rooms: string | null;
}

/**
 * Ends calls without any change for a day, whose end was never reported. Otherwise their results could never be read,
 * and would be kept forever. A report that arrives in the meantime wins: the call is then no longer silent, and the
 * decision is made again without it.
 *
 * @returns the number of calls ended
 */
export const endSilentCalls = (context: Context): Promise<number> =>
  endCalls(context, { since: context.now - SILENCE_UNTIL_END, open_rooms: null });

/**
 * Ends calls whose room LiveKit has closed without reporting it.
 *
 * @param open_rooms the sids of the open rooms
 * @returns the number of calls ended
 */
export const endCallsOfClosedRooms = (context: Context, open_rooms: string[]): Promise<number> =>
  endCalls(context, { ...silenceOfRooms(context), open_rooms: JSON.stringify(open_rooms) });

const silenceOfRooms = ({ now }: Context) => ({ since: now - ROOM_SILENCE, open_rooms: "[]" });

export async function hasSilentRooms(context: Context): Promise<boolean> {
  const silence = silenceOfRooms(context);
  const found = await runAll(context.db, silentCalls({ ...newTurn(1, 1), ...silence }));
  return found.length > 0;
}

function endCalls({ db, now }: Context, which: Omit<Silence, keyof Turn>): Promise<number> {
  return takeShares(CALLS_ENDED, async (turn) => {
    const silence = { ...turn, ...which };
    let ended: unknown[] = [];
    await decideAndWrite(
      db,
      { calls: silentCalls(silence) },
      ({ calls, present }): Decision<unknown> => {
        ended = calls;
        if (ended.length === 0) return { unchanged: undefined };
        const presentOn = Map.groupBy(present, ({ call_id }) => call_id);
        const ends = calls.map((call) => ({ ...call, ended_at: assumedEnd(call, now) }));
        const left = ends.flatMap(({ id, ended_at }) =>
          (presentOn.get(id) ?? []).map((each) => leaveAtEnd(each, ended_at, now, true)),
        );
        return {
          writes: [
            writeLeaving({
              now,
              left: JSON.stringify(left.map(({ id, left_at }) => ({ id, left_at }))),
            }),
            writeAssumedEnds({ now, ends: JSON.stringify(ends) }),
          ],
          entries: [announceRecordings({ now, ids: JSON.stringify(ends.map(({ id }) => id)) })],
        };
      },
      // This read needs no guard: if a participant changes, their call is no longer silent.
      { unguardedReads: { present: presentOnSilentCalls(silence) } },
    );
    return ended;
  });
}

/** True for a portion of the ongoing calls without any change since then, in their participants and results too. */
function isSilent(silence: Placeholders<Silence>): SQL {
  const { since, open_rooms } = silence;
  const isLouder = (table: typeof participants | typeof callTexts | typeof egresses) =>
    selectColumn(table.id, eq(table.call_id, calls.id), gt(table.updated_at, since));
  const where = and(
    lte(calls.updated_at, since),
    ...[participants, callTexts, egresses].map((table) => notExists(isLouder(table))),
    or(
      isNull(sql`${open_rooms}`),
      and(
        exists(
          selectColumn(
            participants.id,
            eq(participants.call_id, calls.id),
            isNotNull(participants.connections),
          ),
        ),
        notInArray(calls.key, jsonValues(open_rooms)),
      ),
    ),
  );
  return isInTurn(calls, { time: calls.updated_at, where, indexed: isNull(calls.ended_at) }, silence);
}

const silentCalls = preparedQuery((silence: Placeholders<Silence>) => {
  const participantsUntil = builder
    .select({ latest: max(latestTime).mapWith(Number) })
    .from(participants)
    .where(eq(participants.call_id, calls.id));
  const spokenUntil = selectColumn(callTexts.spoken_until, isTextOf(calls.id, "transcript"));
  const recordedUntil = builder
    .select({ latest: max(egresses.ended_at) })
    .from(egresses)
    .where(eq(egresses.call_id, calls.id));
  return builder
    .select({
      id: calls.id,
      started_at: calls.started_at,
      participants_until: scalar(participantsUntil).as("participants_until"),
      spoken_until: scalar(spokenUntil).as("spoken_until"),
      recorded_until: scalar(recordedUntil).as("recorded_until"),
    })
    .from(calls)
    .where(isSilent(silence))
    .orderBy(calls.id);
});

const presentOnSilentCalls = preparedQuery((silence: Placeholders<Silence>) =>
  builder
    .select({
      id: participants.id,
      call_id: participants.call_id,
      waiting_since: participants.waiting_since,
      joined_at: participants.joined_at,
      left_at: participants.left_at,
      left_is_assumed: participants.left_is_assumed,
      updated_at: participants.updated_at,
    })
    .from(participants)
    .where(
      and(
        inArray(participants.call_id, selectColumn(calls.id, isSilent(silence))),
        isNull(participants.left_at),
      ),
    ),
);

/** @param left a JSON array of participants and when they left */
const writeLeaving = preparedQuery(({ now, left }: Placeholders<{ now: number; left: string }>) =>
  builder
    .update(participants)
    .set({
      left_at: jsonField("left_at"),
      left_is_assumed: true,
      updated_at: now,
    })
    .from(jsonRows(left))
    .where(eq(participants.id, jsonField("id"))),
);

/** @param ends a JSON array of calls and their assumed ends */
const writeAssumedEnds = preparedQuery(({ now, ends }: Placeholders<{ now: number; ends: string }>) =>
  builder
    .update(calls)
    .set({ ended_at: jsonField("ended_at"), end_is_assumed: true, updated_at: now })
    .from(jsonRows(ends))
    .where(eq(calls.id, jsonField("id")))
    .returning({ id: calls.id }),
);

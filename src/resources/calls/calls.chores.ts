import { and, asc, eq, gt, isNull, lte, max, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { calls, egresses, participants, soapNotes, transcripts } from "../../database/schema.ts";
import { eachOf, ownerIdOf, rowsInTurn, type Turn, takeTurns } from "../../database/turns.ts";
import { CALLS_ENDED, SILENCE_UNTIL_END } from "../../limits.ts";
import { latestTime } from "../participants/participants.sql.ts";
import { leaveAtEnd, withEventTimes } from "../participants/participants.visits.ts";
import { assumedEnd } from "./calls.merge.ts";

interface Silence extends Turn {
  /** Nothing was heard after this time. */
  since: number;
}

/**
 * Ends calls of which no report has changed anything for a day: the report of the end is lost. Otherwise their results
 * could never be read, and would be kept for good. A report that comes meanwhile is not overtaken: then the call is not
 * silent any more, and it is decided again without it.
 *
 * @returns how many it ended
 */
export async function endSilentCalls({ db, now }: Context): Promise<number> {
  const ended = await takeTurns(CALLS_ENDED, async (turn) => {
    const silence = { ...turn, since: now - SILENCE_UNTIL_END };
    let ended: { owner_id: number }[] = [];
    await decideAndWrite(
      db,
      [silentCalls(silence)],
      (silent, present): Decision<unknown> => {
        ended = silent;
        if (ended.length === 0) return { unchanged: undefined };
        const presentOn = Map.groupBy(present, ({ call_id }) => call_id);
        const ends = silent.map((call) => ({ ...call, ended_at: assumedEnd(call, now) }));
        const left = ends.flatMap(({ id, ended_at }) =>
          (presentOn.get(id) ?? []).map((each) =>
            withEventTimes(each, leaveAtEnd(each, ended_at, now, true)),
          ),
        );
        return {
          writes: [
            writeLeaving({
              now,
              left: JSON.stringify(
                left.map(({ id, left_at, left_event_at }) => [id, left_at, left_event_at]),
              ),
            }),
            writeAssumedEnds({ now, ends: JSON.stringify(ends.map(({ id, ended_at }) => [id, ended_at])) }),
          ],
        };
      },
      // A participant who changes is a call that is not silent.
      { unguardedReads: [presentOnSilentCalls(silence)] },
    );
    return ended;
  });
  return ended.length;
}

/** The ids of a portion of the calls that go on, and of which nothing was heard since then: neither of what is theirs. */
function silentCallIds(silence: Placeholders<Silence>): SQL {
  const { since } = silence;
  const isLouder = (table: typeof participants | typeof transcripts | typeof soapNotes | typeof egresses) =>
    builder
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.call_id, calls.id), gt(table.updated_at, since)));
  const silentOf = (owner_id: SQL) =>
    builder
      .select({ id: calls.id })
      .from(calls)
      .where(
        and(
          eq(calls.organization_id, owner_id),
          isNull(calls.ended_at),
          lte(calls.updated_at, since),
          ...[participants, transcripts, soapNotes, egresses].map((table) => notExists(isLouder(table))),
        ),
      )
      .orderBy(asc(calls.updated_at));
  return rowsInTurn(calls, eachOf(calls.organization_id, isNull(calls.ended_at)), silentOf, silence);
}

/** The silent calls, with the latest times that are known of each (see calls.merge.ts). */
const silentCalls = preparedQuery((silence: Placeholders<Silence>) => {
  const participantsUntil = builder
    .select({ latest: max(latestTime) })
    .from(participants)
    .where(eq(participants.call_id, calls.id));
  const spokenUntil = builder
    .select({ until: transcripts.spoken_until })
    .from(transcripts)
    .where(eq(transcripts.call_id, calls.id));
  const recordedUntil = builder
    .select({ latest: max(egresses.ended_at) })
    .from(egresses)
    .where(eq(egresses.call_id, calls.id));
  return builder
    .select({
      id: calls.id,
      owner_id: ownerIdOf(calls.organization_id),
      started_at: calls.started_at,
      participants_until: sql<number | null>`${participantsUntil}`.as("participants_until"),
      spoken_until: sql<number | null>`${spokenUntil}`.as("spoken_until"),
      recorded_until: sql<number | null>`${recordedUntil}`.as("recorded_until"),
    })
    .from(calls)
    .where(sql`${calls.id} in ${silentCallIds(silence)}`)
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
      waiting_event_at: participants.waiting_event_at,
      joined_event_at: participants.joined_event_at,
      left_event_at: participants.left_event_at,
      earlier_left_event_at: participants.earlier_left_event_at,
      updated_at: participants.updated_at,
    })
    .from(participants)
    .where(and(sql`${participants.call_id} in ${silentCallIds(silence)}`, isNull(participants.left_at))),
);

/** `left` is JSON: a participant, when they left, and the time with which the event is written. */
const writeLeaving = preparedQuery(({ now, left }: Placeholders<{ now: number; left: string }>) =>
  builder
    .update(participants)
    .set({
      left_at: sql`item.value ->> 1`,
      left_event_at: sql`item.value ->> 2`,
      left_is_assumed: true,
      updated_at: sql`${now}`,
    })
    .from(sql`json_each(${left}) as item`)
    .where(sql`${participants.id} = item.value ->> 0`),
);

/** `ends` is JSON: pairs of a call and a time. */
const writeAssumedEnds = preparedQuery(({ now, ends }: Placeholders<{ now: number; ends: string }>) =>
  builder
    .update(calls)
    .set({ ended_at: sql`item.value ->> 1`, end_is_assumed: true, updated_at: sql`${now}` })
    .from(sql`json_each(${ends}) as item`)
    .where(sql`${calls.id} = item.value ->> 0`)
    .returning({ id: calls.id }),
);

import { and, eq, gt, inArray, isNull, lte, max, notExists, type SQL, sql } from "drizzle-orm";
import { announceRecordings } from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { latestTime } from "../../calls/participants/participants.sql.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, greatest, least, scalar } from "../../database/expressions.ts";
import {
  type BoundQuery,
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, type Turn, takeShares } from "../../database/turns.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CALLS_ENDED } from "../../tuning.ts";
import { isTextOf } from "../call_texts/call_texts.sql.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";
import { egresses } from "../egresses/egresses.table.ts";

export interface Silence extends Turn {
  since: number;
}

/** Without an end, the results of these calls could never be read, and would be kept forever. */
export const endSilentCalls = (context: Context): Promise<number> =>
  endCalls(context, (turn) => silentCalls({ ...turn, since: context.now - SILENCE_UNTIL_END }));

/**
 * Ends calls at the latest time known of each, and everybody who is still there leaves. A report that arrives in the meantime wins: the
 * call is then no longer silent, and the decision is made again without it.
 */
export const endCalls = (context: Context, silentIn: (turn: Turn) => BoundQuery<{ id: number }>) =>
  takeShares(CALLS_ENDED, async (turn) => {
    let ended: unknown[] = [];
    await decideAndWrite(context, { silent: silentIn(turn) }, ({ silent }): Decision<unknown> => {
      ended = silent;
      if (silent.length === 0) return { unchanged: undefined };
      const these = { ids: JSON.stringify(silent.map(({ id }) => id)), now: context.now };
      return { writes: [assumeLeaving(these), assumeEnds(these)], entries: [announceRecordings(these)] };
    });
    return ended;
  });

const silentCalls = preparedQuery((silence: Placeholders<Silence>) => selectSilentCalls(silence));

interface EndingCalls {
  /** A JSON array. */
  ids: string;
  now: number;
}

/** Selects a portion of the ongoing calls without any change since then, in their participants and results too. */
export function selectSilentCalls(silence: Placeholders<Silence>, condition?: SQL) {
  const isLouder = (table: typeof participants | typeof callTexts | typeof egresses) =>
    selectColumn(table.id, eq(table.call_id, calls.id), gt(table.updated_at, silence.since));
  const where = and(
    lte(calls.updated_at, silence.since),
    ...[participants, callTexts, egresses].map((table) => notExists(isLouder(table))),
    condition,
  );
  return builder
    .select({ id: calls.id })
    .from(calls)
    .where(isInTurn(calls, { time: calls.updated_at, where, indexed: isNull(calls.ended_at) }, silence))
    .orderBy(calls.id);
}

/** The latest time known of a call. A time in the future was reported by mistake. */
function assumedEnd(now: SQL): SQL<number> {
  const participantsUntil = builder
    .select({ latest: max(latestTime).mapWith(Number) })
    .from(participants)
    .where(eq(participants.call_id, calls.id));
  const spokenUntil = selectColumn(callTexts.spoken_until, isTextOf(calls.id, "transcript"));
  const recordedUntil = builder
    .select({ latest: max(egresses.ended_at) })
    .from(egresses)
    .where(eq(egresses.call_id, calls.id));
  const latest = greatest(
    coalesce(scalar(participantsUntil), 0),
    sql`${calls.started_at} + ${coalesce(scalar(spokenUntil), 0)}`,
    coalesce(scalar(recordedUntil), 0),
  );
  return greatest(calls.started_at, least(latest, now));
}

const assumeLeaving = preparedQuery(({ ids, now }: Placeholders<EndingCalls>) => {
  const { call_id, joined_at, waiting_since, left_at } = participants;
  const end = builder
    .select({ ended_at: assumedEnd(sql`${now}`) })
    .from(calls)
    .where(eq(calls.id, call_id));
  return builder
    .update(participants)
    .set({
      left_at: greatest(sql`${end}`, coalesce(joined_at, 0), coalesce(waiting_since, 0)),
      left_is_assumed: true,
      updated_at: now,
    })
    .where(and(inArray(call_id, jsonValues(ids)), isNull(left_at)));
});

const assumeEnds = preparedQuery(({ ids, now }: Placeholders<EndingCalls>) =>
  builder
    .update(calls)
    .set({
      ended_at: assumedEnd(sql`${now}`),
      end_is_assumed: true,
      results_awaited_since: now,
      updated_at: now,
    })
    .where(inArray(calls.id, jsonValues(ids)))
    .returning({ id: calls.id }),
);

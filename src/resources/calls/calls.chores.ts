import { and, eq, gt, inArray, isNotNull, isNull, lte, max, not, notExists, or, type SQL } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { scalar } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isPastRetention } from "../../database/retention.ts";
import { calls, callTexts, egresses, organizations, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import {
  type ChoreTurn,
  isInTurn,
  ownerIdOf,
  type Turn,
  takeTurns,
  workOffRecorded,
} from "../../database/turns.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CALLS_ENDED, CRON_PORTION } from "../../tuning.ts";
import { isTextOf } from "../call_texts/call_texts.sql.ts";
import { latestTime } from "../participants/participants.sql.ts";
import { leaveAtEnd, withEventTimes } from "../participants/participants.stays.ts";
import { assumedEnd } from "./calls.merge.ts";
import { announceRecordings, callEntries, isHeld } from "./calls.sql.ts";

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
                left.map(({ id, left_at, left_event_at }) => ({ id, left_at, left_event_at })),
              ),
            }),
            writeAssumedEnds({ now, ends: JSON.stringify(ends) }),
          ],
          entries: [announceRecordings({ now, ids: JSON.stringify(ends.map(({ id }) => id)) })],
        };
      },
      // A participant who changes is a call that is not silent.
      { unguardedReads: [presentOnSilentCalls(silence)] },
    );
    return ended;
  });
  return ended.length;
}

/** True for a portion of the calls that go on, and of which nothing was heard since then: neither of what is theirs. */
function isSilent(silence: Placeholders<Silence>): SQL {
  const { since } = silence;
  const isLouder = (table: typeof participants | typeof callTexts | typeof egresses) =>
    selectColumn(table.id, eq(table.call_id, calls.id), gt(table.updated_at, since));
  const where = and(
    lte(calls.updated_at, since),
    ...[participants, callTexts, egresses].map((table) => notExists(isLouder(table))),
  );
  return isInTurn(calls, { time: calls.updated_at, where, indexed: isNull(calls.ended_at) }, silence);
}

/** The silent calls, with the latest times that are known of each (see calls.merge.ts). */
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
      owner_id: ownerIdOf(calls.organization_id),
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
      waiting_event_at: participants.waiting_event_at,
      joined_event_at: participants.joined_event_at,
      left_event_at: participants.left_event_at,
      earlier_left_event_at: participants.earlier_left_event_at,
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

/** `left` is JSON: participants, when they left, and the time with which the event is written. */
const writeLeaving = preparedQuery(({ now, left }: Placeholders<{ now: number; left: string }>) =>
  builder
    .update(participants)
    .set({
      left_at: jsonField("left_at"),
      left_event_at: jsonField("left_event_at"),
      left_is_assumed: true,
      updated_at: now,
    })
    .from(jsonRows(left))
    .where(eq(participants.id, jsonField("id"))),
);

/** `ends` is JSON: calls, and when they are assumed to have ended. */
const writeAssumedEnds = preparedQuery(({ now, ends }: Placeholders<{ now: number; ends: string }>) =>
  builder
    .update(calls)
    .set({ ended_at: jsonField("ended_at"), end_is_assumed: true, updated_at: now })
    .from(jsonRows(ends))
    .where(eq(calls.id, jsonField("id")))
    .returning({ id: calls.id }),
);

/**
 * Erases the references of calls, where their organization does not keep names for so long. Those of calls with participants
 * go with the first of these (see triggers/tombstones.sql), but for calls that nobody joined, and after a legal hold.
 *
 * @returns how many it erased
 */
export const eraseReferences = (context: Context): Promise<number> =>
  workOffRecorded(
    context,
    CRON_PORTION,
    (chore) => recordErasures(context, "update", chore),
    eraseDueReferences,
  );

/** True for the calls whose reference is due. */
function isReferenceDue(chore: Placeholders<ChoreTurn>) {
  const named = selectColumn(
    participants.id,
    eq(participants.call_id, calls.id),
    isNull(participants.erased_at),
  );
  const due = {
    time: calls.ended_at,
    days: organizations.participant_retention_days,
    where: and(
      or(isNotNull(calls.external_reference), isNotNull(calls.livekit_said)),
      notExists(named),
      not(isHeld(calls.id)),
    ),
  };
  return isPastRetention(calls, due, chore);
}

const recordErasures = callEntries(isReferenceDue);

const eraseDueReferences = preparedQuery((chore: Placeholders<ChoreTurn>) =>
  builder
    .update(calls)
    .set({
      external_reference: null,
      livekit_said: null,
      reference_erased_at: chore.now,
      updated_at: chore.now,
    })
    .where(isReferenceDue(chore))
    .returning({ owner_id: ownerIdOf(calls.organization_id) }),
);

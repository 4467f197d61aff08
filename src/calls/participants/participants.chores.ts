import { and, isNull, lte } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isPastRetention } from "../../database/retention.ts";
import { type ChoreTurn, isInTurn, takeShares, workOff } from "../../database/turns.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { people } from "../../rooms/people/people.table.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { erasureOf, isErasable, selectErasable } from "./participants.erasure.ts";
import { latestTime } from "./participants.sql.ts";
import { participants } from "./participants.table.ts";

/** Ends the waits that no report has changed for a day, each at the latest time known of it: the report of leaving was lost. */
export const endSilentWaits = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => leaveSilently({ ...turn, now, since: now - SILENCE_UNTIL_END }));

const leaveSilently = preparedQuery((chore: Placeholders<ChoreTurn & { since: number }>) => {
  const { organization_id, call_id, left_at, updated_at } = participants;
  const waits = and(isNull(left_at), isNull(call_id));
  const silent = { time: updated_at, where: lte(updated_at, chore.since), indexed: waits };
  return builder
    .update(participants)
    .set({ left_at: latestTime, left_is_assumed: true, updated_at: chore.now })
    .where(isInTurn(participants, silent, chore))
    .returning({ organization_id });
});

/**
 * Erases the names, keys and references of people past their organization's retention and, through triggers, the references of their
 * calls and visits. The data that metrics, consents and audit entries need stays.
 */
export function eraseParticipants(context: Context): Promise<number> {
  const { now } = context;
  return takeShares(CRON_PORTION, async (turn) => {
    const reads = { due: peopleToErase({ ...turn, now }) };
    let taken: unknown[] = [];
    await decideAndWrite(context, reads, async ({ due }): Promise<Decision<unknown>> => {
      taken = due;
      if (due.length === 0) return { unchanged: undefined };
      return { writes: (await erasureOf(context, "delete", due)).writes };
    });
    return taken;
  });
}

const peopleToErase = preparedQuery((chore: Placeholders<ChoreTurn>) => {
  const { participant_retention_days: days } = organizations;
  return selectErasable(isPastRetention(people, { time: people.over_at, days, where: isErasable }, chore));
});

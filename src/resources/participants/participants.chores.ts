import { and, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { idsInTurn } from "../../database/in_turn.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { participants } from "../../database/schema.ts";
import { CRON_PORTION, SILENCE_UNTIL_END } from "../../limits.ts";
import { latestTime } from "./participants.sql.ts";

/**
 * Ends waits of which no report has changed anything for a day, at the latest time known of each: the report of leaving
 * is lost. Whoever begins to wait after that comes back.
 *
 * @returns how many it ended
 */
export async function endSilentWaits({ db, now }: Context): Promise<number> {
  return (await runAll(db, leaveSilently({ now, since: now - SILENCE_UNTIL_END }))).length;
}

const leaveSilently = preparedQuery(({ now, since }: Placeholders<{ now: number; since: number }>) => {
  const { id, call_id, left_at, updated_at } = participants;
  const silent = idsInTurn(participants, {
    isIndexed: and(isNull(left_at), isNull(call_id)) as SQL,
    isDue: lte(updated_at, since),
    portion: CRON_PORTION,
  });
  return builder
    .update(participants)
    .set({ left_at: latestTime, left_is_assumed: true, updated_at: sql`${now}` })
    .where(inArray(id, silent))
    .returning({ id });
});

import { and, eq, exists, isNotNull, lte, ne, not, notExists, or, sql } from "drizzle-orm";
import { calls } from "../../calls/calls/calls.table.ts";
import type { Context } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { greatest } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { type ChoreTurn, isInTurn, workOff } from "../../database/turns.ts";
import { RESULTS_AWAITED_FOR, UNFINISHED_RESULTS_AWAITED_FOR } from "../../lifetimes.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";
import { egresses } from "../egresses/egresses.table.ts";

/**
 * Announces the results of ended calls, once for each call: when no text is a draft and no recording is running. A call without any
 * result waits for its first one for a while, and an unfinished result holds a call back for a limited time. A trigger writes the event.
 *
 * @returns the number of announced calls
 */
export const announceResults = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => announceDueResults({ ...turn, now }));

const announceDueResults = preparedQuery((chore: Placeholders<ChoreTurn>) => {
  const { results_awaited_since: time } = calls;
  const hasWaited = (duration: number) => lte(time, sql`${chore.now} - ${sql.raw(String(duration))}`);
  const text = eq(callTexts.call_id, calls.id);
  const recording = eq(egresses.call_id, calls.id);
  const isRunning = and(ne(egresses.status, "egress_ended"), ne(egresses.status, EGRESS_DELETED));
  const isReady = and(
    notExists(selectColumn(callTexts.id, text, not(callTexts.is_final))),
    notExists(selectColumn(egresses.id, recording, isRunning)),
    or(
      hasWaited(RESULTS_AWAITED_FOR),
      exists(selectColumn(callTexts.id, text)),
      exists(selectColumn(egresses.id, recording)),
    ),
  );
  const due = {
    time,
    indexed: isNotNull(time),
    where: or(hasWaited(UNFINISHED_RESULTS_AWAITED_FOR), isReady),
  };
  return builder
    .update(calls)
    .set({ results_awaited_since: null, updated_at: greatest(calls.updated_at, chore.now) })
    .where(isInTurn(calls, due, chore))
    .returning({ organization_id: calls.organization_id });
});

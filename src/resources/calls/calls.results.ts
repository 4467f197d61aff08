import { and } from "drizzle-orm";
import type { CallTextKind } from "../../database/enums.ts";
import { scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { calls, callTexts, egresses, legalHolds } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { isTextOf } from "../call_texts/call_texts.sql.ts";
import { isVisible } from "../egresses/egresses.sql.ts";
import { callColumns, callWithinReach, holdColumns, isRunningHoldOf, type ReachedCall } from "./calls.sql.ts";

/** Selects whether the text of the call is final; null where there is none. */
const isFinal = (kind: CallTextKind) =>
  scalar(selectColumn(callTexts.is_final, isTextOf(calls.id, kind))).mapWith(callTexts.is_final);

/** What says of a call how far its results are. */
export const resultColumns = {
  transcript_is_final: isFinal("transcript").as("transcript_is_final"),
  soap_note_is_final: isFinal("soap_note").as("soap_note_is_final"),
};

/**
 * The call of the path with what there is of its results: of its recordings, the number that their list shows. Only
 * administrators see the hold.
 */
export const callWithResults = preparedQuery((call: Placeholders<ReachedCall>) => {
  const recordings = builder.$count(egresses, isVisible(call));
  return builder
    .select({ ...callColumns, ...holdColumns, ...resultColumns, egress_count: recordings.as("egress_count") })
    .from(calls)
    .leftJoin(legalHolds, and(isRunningHoldOf(calls.id), call.reaches_everybody))
    .where(callWithinReach(call));
});

import { and, eq } from "drizzle-orm";
import type { CallTextKind } from "../../database/enums.ts";
import { hasValues, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isRunningHoldOf } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import { callTexts } from "../../results/call_texts/call_texts.table.ts";
import { visibleRecordings } from "../../results/egresses/egresses.table.ts";
import { legalHolds } from "../legal_holds/legal_holds.table.ts";
import { callColumns, callWithinReach, holdColumns, type ReachedCall } from "./calls.sql.ts";
import { calls } from "./calls.table.ts";

/** Selects whether the text of the call is final; null if there is no text. */
const isFinal = (kind: CallTextKind) =>
  scalar(selectColumn(callTexts.is_final, hasValues(callTexts, { call_id: calls.id, kind }))).mapWith(
    callTexts.is_final,
  );

/** A call with the state of its results. `egress_count` is the number of recordings that their list shows. */
export const columnsWithResults = {
  ...callColumns,
  transcript_is_final: isFinal("transcript").as("transcript_is_final"),
  soap_note_is_final: isFinal("soap_note").as("soap_note_is_final"),
  egress_count: builder.$count(visibleRecordings, eq(visibleRecordings.call_id, calls.id)).as("egress_count"),
};

/** Only administrators see the hold. */
export const callDetails = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ ...columnsWithResults, ...holdColumns })
    .from(calls)
    .leftJoin(legalHolds, and(isRunningHoldOf(calls.id), call.reaches_everybody))
    .where(callWithinReach(call)),
);

import { and, eq, getTableColumns, inArray, not, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../../calls/calls/calls.entries.ts";
import {
  type CallKey,
  callIdByKey,
  callIdOfPath,
  endedCallId,
  type ReachedCall,
} from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import type { CallTextKind } from "../../database/enums.ts";
import { coalesce } from "../../database/expressions.ts";
import { builder, jsonValues, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { isPastRetention } from "../../database/retention.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { ChoreTurn } from "../../database/turns.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { callTexts } from "./call_texts.table.ts";

export type Kind = { kind: CallTextKind };

/** All columns except the lines of a transcript, which are long. */
export const { lines: _, ...callTextColumns } = getTableColumns(callTexts);

export type CallText = Row<typeof callTextColumns>;

export const textWrites = tableWrites(callTexts, callTextColumns);

export const isTextOf = (call_id: SQLWrapper, kind: CallTextKind | SQLWrapper) =>
  and(eq(callTexts.call_id, call_id), eq(callTexts.kind, kind)) as SQL;

const selectTexts = (condition: SQL) => builder.select(callTextColumns).from(callTexts).where(condition);

export const textByCallKey = preparedQuery((text: Placeholders<CallKey & Kind>) =>
  selectTexts(isTextOf(callIdByKey(text), text.kind)),
);

export const textOfReach = preparedQuery((text: Placeholders<ReachedCall & Kind>) =>
  selectTexts(isTextOf(callIdOfPath(text), text.kind)),
);

export const stateOfText = rowsWhere(
  callTexts,
  {
    id: callTexts.id,
    is_final: callTexts.is_final,
    corrections: callTexts.corrections,
    updated_at: callTexts.updated_at,
    has_summary: sql`${callTexts.summary} <> ''`.as("has_summary"),
  },
  (of: Placeholders<ReachedCall & Kind>) => isTextOf(callIdOfPath(of), of.kind),
);

/** True for the text of the call in the path, if it may be read. */
export const isReached = (text: Placeholders<ReachedCall & Kind>) => isTextOf(endedCallId(text), text.kind);

export const textIdOfPath = (text: Placeholders<ReachedCall & Kind>) =>
  selectColumn(callTexts.id, isReached(text));

export const textOfPath = preparedQuery((text: Placeholders<ReachedCall & Kind>) =>
  selectTexts(isReached(text)),
);

export const textEntries = entriesWhere(callTexts.kind, callTexts, {
  ...subjectOfCall(callTexts),
  resource_id: callTexts.call_id,
});

export const entryOfText = textEntries(isReached);

/** Both statements belong together: a trigger refuses to delete a text without an entry. */
const deletionWhere = <Values extends object>(condition: (values: Placeholders<Values>) => SQL) => ({
  record: textEntries(condition),
  remove: preparedQuery((values: Placeholders<Values>) =>
    builder
      .delete(callTexts)
      .where(condition(values))
      .returning({ organization_id: callTexts.organization_id }),
  ),
});

export const deletionOfText = deletionWhere(({ call_id, kind }: Placeholders<{ call_id: number } & Kind>) =>
  isTextOf(call_id, kind),
);

/** `call_ids` is a JSON array. */
export const deletionOfTexts = deletionWhere(({ call_ids }: Placeholders<{ call_ids: string }>) =>
  inArray(callTexts.call_id, jsonValues(call_ids)),
);

/** Keeps reports from adding a text or a recording to these calls, even if they had none. `call_ids` is a JSON array. */
export const refuseResults = preparedQuery(
  ({ call_ids, now }: Placeholders<{ call_ids: string; now: number }>) =>
    builder
      .update(calls)
      .set({
        transcript_deleted_at: coalesce(calls.transcript_deleted_at, now),
        soap_note_deleted_at: coalesce(calls.soap_note_deleted_at, now),
        recordings_deleted_at: coalesce(calls.recordings_deleted_at, now),
      })
      .where(inArray(calls.id, jsonValues(call_ids))),
);

export const deletionOfOld = deletionWhere((chore: Placeholders<ChoreTurn>) => {
  const due = {
    time: callTexts.call_ended_at,
    days: organizations.transcript_retention_days,
    where: not(callTexts.is_held),
  };
  return isPastRetention(callTexts, due, chore);
});

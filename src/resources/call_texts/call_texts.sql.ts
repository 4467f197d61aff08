import { eq, getTableColumns, inArray, not, type SQL } from "drizzle-orm";
import { builder, type Placeholders, type PreparedQuery, preparedQuery } from "../../database/queries.ts";
import { pastRetentionInTurn } from "../../database/retention.ts";
import { organizations, type soapNotes, type transcripts } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { type ChoreTurn, ownerIdOf, rowid } from "../../database/turns.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { type CallKey, callIdByKey, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export type CallText = ReturnType<typeof callText>;

/** The statements that transcripts and SOAP notes have in common, with their entries of the access log. */
export function callText<Table extends typeof transcripts | typeof soapNotes>(
  resource: "transcript" | "soap_note",
  table: Table,
) {
  const columns = getTableColumns(table);
  const subject = { ...subjectOfCall(table), resource_id: table.call_id, from: table };
  const entriesWhere = <Values extends object>(condition: (values: Placeholders<Values>) => SQL) =>
    accessEntries<Values>(resource, (values) => ({ ...subject, where: condition(values) }));
  /** A trigger refuses to delete a text without its entry. */
  const deletionWhere = <Values extends object>(condition: (values: Placeholders<Values>) => SQL) => ({
    record: entriesWhere(condition),
    remove: preparedQuery((values: Placeholders<Values>) =>
      builder
        .delete(table)
        .where(condition(values))
        .returning({ owner_id: ownerIdOf(table.organization_id) }),
    ),
  });
  return {
    writes: tableWrites(table, columns),
    byCallKey: preparedQuery((call: Placeholders<CallKey>) =>
      builder
        .select(columns)
        .from(table)
        .where(eq(table.call_id, callIdByKey(call))),
    ) as PreparedQuery<CallKey, Table["$inferSelect"]>,
    /** Of the text of the call in a path, where it may be read. */
    entriesOfPath: entriesWhere((call: Placeholders<ReachedCall>) => eq(table.call_id, endedCallId(call))),
    deletionOfCall: deletionWhere(({ call_id }: Placeholders<{ call_id: number }>) =>
      eq(table.call_id, call_id),
    ),
    /** Of what has its turn, of calls that ended more days ago than their organization keeps transcripts. */
    deletionOfOld: deletionWhere((chore: Placeholders<ChoreTurn>) =>
      inArray(
        rowid,
        pastRetentionInTurn(
          table,
          {
            time: table.call_ended_at,
            days: organizations.transcript_retention_days,
            where: not(table.is_held),
          },
          chore.now,
          chore,
        ),
      ),
    ),
  };
}

import { and, asc, eq, getTableColumns, inArray, type SQL } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../../calls/calls/calls.entries.ts";
import { endedCallId, type ReachedCall } from "../../calls/calls/calls.sql.ts";
import { hasValues, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { rowsBy, rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { egresses, egressFiles, visibleRecordings } from "./egresses.table.ts";

export const egressColumns = getTableColumns(egresses);

export const egressWrites = tableWrites(egresses, egressColumns);

export const visibleIds = (call: Values<ReachedCall>, condition?: SQL) =>
  builder
    .select({ id: visibleRecordings.id })
    .from(visibleRecordings)
    .where(and(eq(visibleRecordings.call_id, endedCallId(call)), condition));

export interface ReachedEgress extends ReachedCall {
  egress_id: number;
}

/** True for the egress of the path if its call has ended and is within reach. Its audit logs may then be seen. */
export const egressWithinReach = (egress: Placeholders<ReachedEgress>) =>
  hasValues(egresses, { id: egress.egress_id, call_id: endedCallId(egress) });

export const visibleEgress = (egress: Placeholders<ReachedEgress>) =>
  inArray(egresses.id, visibleIds(egress, eq(visibleRecordings.id, egress.egress_id)));

export const visibleEgressOfPath = rowsWhere(egresses, egressColumns, (egress: Placeholders<ReachedEgress>) =>
  visibleEgress(egress),
);

export const egressesOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(egressColumns)
    .from(egresses)
    .where(inArray(egresses.id, visibleIds(call)))
    .orderBy(asc(egresses.id)),
);

/** The platform's key of an egress: the recording backend's id, unique within an organization. */
export interface EgressKey {
  organization_id: number;
  egress_id: string;
}

export const hasEgressKey = ({ organization_id, egress_id }: Values<EgressKey>) =>
  hasValues(egresses, { organization_id, egress_id });

export const egressByKey = rowsBy(egresses, egressColumns, "organization_id", "egress_id");

/** A view: an insert records a file of an egress (see egress_files.triggers.sql). */
const namedFiles = sqliteTable("named_files", {
  organization_id: integer(),
  storage_key: text(),
  egress_id: integer(),
});

/** Records files of an egress, which may be written in the same transaction. @param storage_keys a JSON array */
export const nameFiles = preparedQuery((files: Placeholders<EgressKey & { storage_keys: string }>) =>
  insertSelect(
    namedFiles,
    {
      organization_id: files.organization_id,
      storage_key: jsonValue,
      egress_id: scalar(selectColumn(egresses.id, hasEgressKey(files))),
    },
    { from: jsonRows(files.storage_keys) },
  ),
);

/** The recording that names, or once named, a file of the organization. */
export const ownerOfFile = preparedQuery(
  ({ organization_id, storage_key }: Placeholders<{ organization_id: number; storage_key: string | null }>) =>
    builder
      .select({ egress_id: egresses.egress_id })
      .from(egressFiles)
      .innerJoin(egresses, eq(egresses.id, egressFiles.egress_id))
      .where(hasValues(egressFiles, { organization_id, storage_key })),
);

export const egressEntries = entriesWhere("egress", egresses, subjectOfCall(egresses));

export const egressReadEntry = egressEntries((egress: Placeholders<ReachedEgress>) => visibleEgress(egress));

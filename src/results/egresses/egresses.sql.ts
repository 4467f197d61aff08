import { and, asc, eq, getTableColumns, inArray, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../../calls/calls/calls.entries.ts";
import { endedCallId, type ReachedCall } from "../../calls/calls/calls.sql.ts";
import { columnAs, hasValues, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Values,
} from "../../database/queries.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { type ChoreTurn, isInTurn } from "../../database/turns.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { EGRESS_CHECK_PAUSE, EGRESS_LONG_SILENCE } from "../../tuning.ts";
import { egresses, egressFiles, visibleRecordings } from "./egresses.table.ts";

export const egressColumns = getTableColumns(egresses);

export const egressWrites = tableWrites(egresses, egressColumns);

const visibleIds = (call: Values<ReachedCall>, condition?: SQL) =>
  builder
    .select({ id: visibleRecordings.id })
    .from(visibleRecordings)
    .where(and(eq(visibleRecordings.call_id, endedCallId(call)), condition));

/** True for the visible recordings of the call of the path. */
export const isVisible = (call: Values<ReachedCall>) => inArray(egresses.id, visibleIds(call));

export interface ReachedEgress extends ReachedCall {
  egress_id: number;
}

/** True for the egress of the path if its call has ended and is within reach. Its audit logs may then be seen. */
export const egressWithinReach = (egress: Placeholders<ReachedEgress>) =>
  hasValues(egresses, { id: egress.egress_id, call_id: endedCallId(egress) });

/** True for the egress of the path if the recording is also visible. */
export const visibleEgress = (egress: Placeholders<ReachedEgress>) =>
  inArray(egresses.id, visibleIds(egress, eq(visibleRecordings.id, egress.egress_id)));

export const visibleEgressOfPath = preparedQuery((egress: Placeholders<ReachedEgress>) =>
  builder.select(egressColumns).from(egresses).where(visibleEgress(egress)),
);

export const egressesOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder.select(egressColumns).from(egresses).where(isVisible(call)).orderBy(asc(egresses.id)),
);

/** The platform's key of an egress: the recording backend's id, unique within an organization. */
export interface EgressKey {
  organization_id: number;
  egress_id: string;
}

export const hasEgressKey = ({ organization_id, egress_id }: Values<EgressKey>) =>
  hasValues(egresses, { organization_id, egress_id });

export const egressByKey = rowsBy(egresses, egressColumns, "organization_id", "egress_id");

/** Not a real table: an insert runs a trigger of egress_files.triggers.sql, which records a file of an egress. */
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

const silentEgressColumns = {
  id: egresses.id,
  egress_id: egresses.egress_id,
  status: egresses.status,
  organization_slug: columnAs(organizations.slug, "organization_slug"),
};

/**
 * Running egresses without a recent report: a share per organization, the longest silent first.
 */
export const silentEgresses = preparedQuery((silent: Placeholders<ChoreTurn>) => {
  const { check_at: time } = egresses;
  const due = { time, where: lte(time, silent.now), indexed: isNotNull(time) };
  return builder
    .select(silentEgressColumns)
    .from(egresses)
    .innerJoin(organizations, eq(organizations.id, egresses.organization_id))
    .where(isInTurn(egresses, due, silent))
    .orderBy(asc(egresses.check_at));
});

/** Schedules the next check of the checked egresses, unless they were reported in the meantime. */
export const scheduleChecks = preparedQuery(
  ({ now, checked, unknown }: Placeholders<{ now: number; checked: string; unknown: string }>) => {
    const isUnknown = inArray(egresses.id, jsonValues(unknown));
    const silence = sql`${now} - ${egresses.updated_at}`;
    return builder
      .update(egresses)
      .set({
        check_at: sql`${now} + iif(${isUnknown} or ${silence} > ${EGRESS_LONG_SILENCE}, ${silence}, ${EGRESS_CHECK_PAUSE})`,
      })
      .where(and(inArray(egresses.id, jsonValues(checked)), lte(egresses.check_at, now)));
  },
);

export const egressEntries = entriesWhere("egress", egresses, subjectOfCall(egresses));

export const egressReadEntry = egressEntries((egress: Placeholders<ReachedEgress>) => visibleEgress(egress));

import { and, desc, eq, getTableColumns, gte, inArray, lt, max, type SQL, sql, sum } from "drizzle-orm";
import { type ListName, listTotals } from "../../database/database.table.ts";
import { AUDIT_EVENTS, type AuditEvent } from "../../database/enums.ts";
import { coalesce, greatest, scalar } from "../../database/expressions.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { pagedList } from "../../http/lists.ts";
import { egressWithinReach, type ReachedEgress, visibleEgress } from "../egresses/egresses.sql.ts";
import { egresses } from "../egresses/egresses.table.ts";
import { egressAuditLogs } from "./egress_audit_logs.table.ts";

export const auditLogColumns = getTableColumns(egressAuditLogs);

interface ReachedEntries extends ReachedEgress {
  /** null for all events */
  event: AuditEvent | null;
  /** Milliseconds since the epoch. `from` is included, `before` is not. */
  from: number;
  before: number;
}

/** Selects the egress of the path, if its audit log may be seen. */
const reachedEgressId = (egress: Placeholders<ReachedEgress>) =>
  selectColumn(egresses.id, egressWithinReach(egress));

export const auditedEgress = preparedQuery(reachedEgressId);

const entriesWhere = (condition: (entries: Placeholders<ReachedEntries>) => SQL | undefined) =>
  pagedList(
    egressAuditLogs,
    auditLogColumns,
    [desc(egressAuditLogs.created_at), desc(egressAuditLogs.id)],
    (entries: Placeholders<ReachedEntries>) =>
      and(
        eq(egressAuditLogs.egress_id, reachedEgressId(entries)),
        condition(entries),
        // With two bounds, SQLite expects so few rows that it may choose the index without the event.
        sql`likely(${gte(egressAuditLogs.created_at, entries.from)})`,
        lt(egressAuditLogs.created_at, entries.before),
      ),
  );

export const allAuditLogs = entriesWhere(() => undefined);

/** A query of its own, so that SQLite uses the index by event. */
export const auditLogsOfEvent = entriesWhere((entries) => eq(egressAuditLogs.event, entries.event));

export const listsOfEvents = (event: AuditEvent | undefined): string =>
  JSON.stringify((event ? [event] : AUDIT_EVENTS).map((each): ListName => `egress_audit_logs:${each}`));

/** The number of entries regardless of their time, from totals that triggers maintain. */
export const totalOfEntries = rowsWhere(
  listTotals,
  { total: coalesce(sum(listTotals.total).mapWith(Number), 0).as("total") },
  (entries: Placeholders<ReachedEgress & { lists: string }>) =>
    and(
      inArray(listTotals.list, jsonValues(entries.lists)),
      eq(listTotals.owner_id, reachedEgressId(entries)),
    ),
);

/** As in the triggers that write the other entries (dev/generated_triggers.ts): the entries of an egress are in order. */
const latestEntryAt = scalar(
  builder
    .select({ created_at: max(egressAuditLogs.created_at) })
    .from(egressAuditLogs)
    .where(eq(egressAuditLogs.egress_id, egresses.id)),
);

/** Records that a user reads the egress of the path. Inserts nothing if the egress is not visible. */
export const insertReadEntry = preparedQuery(
  (entry: Placeholders<ReachedEgress & { user_id: number; now: number }>) =>
    insertSelect(
      egressAuditLogs,
      {
        organization_id: egresses.organization_id,
        egress_id: egresses.id,
        event: "read",
        user_id: entry.user_id,
        object_changes: null,
        created_at: greatest(entry.now, coalesce(latestEntryAt, 0)),
      },
      { from: egresses, where: visibleEgress(entry) },
    ).returning({ id: egressAuditLogs.id }),
);

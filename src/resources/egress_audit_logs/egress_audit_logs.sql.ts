import { and, desc, eq, getTableColumns, gte, inArray, lt, type SQL, sql, sum } from "drizzle-orm";
import { AUDIT_EVENTS, type AuditEvent } from "../../database/enums.ts";
import { coalesce } from "../../database/expressions.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { egressAuditLogs, egresses, type ListName, listTotals } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { pagedList } from "../../http/lists.ts";
import { egressWithinReach, type ReachedEgress, visibleEgress } from "../egresses/egresses.sql.ts";

export const auditLogColumns = getTableColumns(egressAuditLogs);

/** Which entries of the egress of a path are asked for. */
interface ReachedEntries extends ReachedEgress {
  /** null for those of all events. */
  event: AuditEvent | null;
  /** Milliseconds since the epoch: from the first on, and before the second. */
  from: number;
  before: number;
}

const reachedEgressId = (egress: Placeholders<ReachedEgress>) =>
  selectColumn(egresses.id, egressWithinReach(egress));

/** The egress of the path, where its audit logs may be seen. */
export const auditedEgress = preparedQuery((egress: Placeholders<ReachedEgress>) => reachedEgressId(egress));

/** The entries, newest first: those of all events, or those that a condition leaves. */
const entriesWhere = (condition: (entries: Placeholders<ReachedEntries>) => SQL | undefined) =>
  pagedList(
    egressAuditLogs,
    auditLogColumns,
    [desc(egressAuditLogs.created_at), desc(egressAuditLogs.id)],
    (entries: Placeholders<ReachedEntries>) =>
      and(
        eq(egressAuditLogs.egress_id, reachedEgressId(entries)),
        condition(entries),
        // Between two bounds SQLite expects so few entries that the index without the event seems as good.
        sql`likely(${gte(egressAuditLogs.created_at, entries.from)})`,
        lt(egressAuditLogs.created_at, entries.before),
      ),
  );

export const allAuditLogs = entriesWhere(() => undefined);

/** Queries of their own, because SQLite finds the entries of one event by an index of their own. */
export const auditLogsOfEvent = entriesWhere((entries) => eq(egressAuditLogs.event, entries.event));

/** The lists of entries, as their totals name them: of one event, or of all. As a JSON array. */
export const listsOfEvents = (event: AuditEvent | undefined): string =>
  JSON.stringify((event ? [event] : AUDIT_EVENTS).map((each): ListName => `egress_audit_logs:${each}`));

/** How many entries there are at any time, from the totals that triggers keep. */
export const totalOfEntries = preparedQuery((entries: Placeholders<ReachedEgress & { lists: string }>) =>
  builder
    .select({ total: coalesce(sum(listTotals.total).mapWith(Number), 0).as("total") })
    .from(listTotals)
    .where(
      and(
        inArray(listTotals.list, jsonValues(entries.lists)),
        eq(listTotals.owner_id, reachedEgressId(entries)),
      ),
    ),
);

/** The statement that records that a user reads the egress of a path: it inserts nothing where it may not be seen. */
export const insertReadEntry = preparedQuery(
  (entry: Placeholders<ReachedEgress & { user_id: number; now: number }>) =>
    insertSelect(
      egressAuditLogs,
      {
        organization_id: egresses.organization_id,
        egress_id: egresses.id,
        event: "read",
        user_id: entry.user_id,
        created_at: entry.now,
      },
      { from: egresses, where: visibleEgress(entry) },
    ).returning({ id: egressAuditLogs.id }),
);

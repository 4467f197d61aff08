import { and, asc, eq, getTableColumns, inArray, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import { integer, sqliteView } from "drizzle-orm/sqlite-core";
import { columnAs, hasValues } from "../../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Values,
} from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { egresses, egressFiles, organizations } from "../../database/schema.ts";
import { rowsBy } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { isInTurn, ownerIdOf, type Turn } from "../../database/turns.ts";
import { EGRESS_CHECK_PAUSE, EGRESS_LONG_SILENCE } from "../../tuning.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { endedCallId, type ReachedCall } from "../calls/calls.sql.ts";

export const egressColumns = getTableColumns(egresses);

export const egressWrites = tableWrites(egresses, egressColumns);

/** The recordings that may be seen: see triggers/egress_visibility.sql. */
const visibleRecordings = sqliteView("visible_recordings", { id: integer(), call_id: integer() }).existing();

const visibleIds = (call: Values<ReachedCall>, condition?: SQL) =>
  builder
    .select({ id: visibleRecordings.id })
    .from(visibleRecordings)
    .where(and(eq(visibleRecordings.call_id, endedCallId(call)), condition));

/** True for the recordings of the call of the path that may be seen. */
export const isVisible = (call: Values<ReachedCall>) => inArray(egresses.id, visibleIds(call));

/** Which egress a path names, and who asks for it, as values of a query. */
export interface ReachedEgress extends ReachedCall {
  egress_id: number;
}

/** True for the egress of the path, where the call is within reach and has ended: then its audit logs may be seen. */
export const egressWithinReach = (egress: Placeholders<ReachedEgress>) =>
  hasValues(egresses, { id: egress.egress_id, call_id: endedCallId(egress) });

/** True for the egress of the path, where the recording may be seen too. */
export const visibleEgress = (egress: Placeholders<ReachedEgress>) =>
  inArray(egresses.id, visibleIds(egress, eq(visibleRecordings.id, egress.egress_id)));

/** The egress of the path, where the recording may be seen. */
export const visibleEgressOfPath = preparedQuery((egress: Placeholders<ReachedEgress>) =>
  builder.select(egressColumns).from(egresses).where(visibleEgress(egress)),
);

/** The recordings of the call of the path, where they may be seen. */
export const egressesOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder.select(egressColumns).from(egresses).where(isVisible(call)).orderBy(asc(egresses.id)),
);

/** An egress as the platform names it: by the recording backend's own id, which is unique in the organization. */
export interface EgressKey {
  organization_id: number;
  egress_id: string;
}

/** True for the egress with this key. */
export const hasEgressKey = ({ organization_id, egress_id }: Values<EgressKey>) =>
  hasValues(egresses, { organization_id, egress_id });

export const egressByKey = rowsBy(egresses, egressColumns, "organization_id", "egress_id");

/** The recording that names, or ever named, a file of the organization. */
export const ownerOfFile = preparedQuery(
  ({ organization_id, storage_key }: Placeholders<{ organization_id: number; storage_key: string | null }>) =>
    builder
      .select({ egress_id: egresses.egress_id })
      .from(egressFiles)
      .innerJoin(egresses, eq(egresses.id, egressFiles.egress_id))
      .where(hasValues(egressFiles, { organization_id, storage_key })),
);

/**
 * The running egresses of which nothing was heard for a while, a portion of them, in which each organization has its turn:
 * those first that wait longest.
 */
export const silentEgresses = preparedQuery((silent: Placeholders<Turn & { now: number }>) => {
  const { check_at: time } = egresses;
  const due = { time, where: lte(time, silent.now), indexed: isNotNull(time) };
  return builder
    .select({
      id: egresses.id,
      egress_id: egresses.egress_id,
      status: egresses.status,
      organization_slug: columnAs(organizations.slug, "organization_slug"),
      owner_id: ownerIdOf(egresses.organization_id),
    })
    .from(egresses)
    .innerJoin(organizations, eq(organizations.id, egresses.organization_id))
    .where(and(isInTurn(egresses, due, silent), isNotQuiet()))
    .orderBy(asc(egresses.check_at));
});

/** Says when to check again those that were checked, but for those of which a report came meanwhile. */
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

/** The entries of the access log about the recordings that a condition selects. */
export const egressEntries = entriesWhere("egress", egresses, subjectOfCall(egresses));

export const egressReadEntry = egressEntries((egress: Placeholders<ReachedEgress>) => visibleEgress(egress));

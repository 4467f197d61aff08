import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lte,
  notExists,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Values,
} from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { calls, egresses, participants, storageKeys } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { eachOf, ownerIdOf, rowsInTurn, type Turn } from "../../database/turns.ts";
import { EGRESS_CHECK_PAUSE, EGRESS_LONG_SILENCE } from "../../limits.ts";
import { subjectOfCall } from "../access_logs/access_logs.calls.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { endedCall, endedCallId, type ReachedCall } from "../calls/calls.sql.ts";
import { memberOf } from "../organization_users/organization_users.sql.ts";

export const egressColumns = getTableColumns(egresses);

export const egressWrites = tableWrites(egresses, egressColumns);

const onTheCall = eq(participants.call_id, calls.id);

const didNotConsent = or(isNull(participants.recording_consent), eq(participants.recording_consent, false));

/** Selects the id of the call of the path, if it has ended and all its participants, at least one, consented. */
export const consentedCallId = (call: Values<ReachedCall>) =>
  builder
    .select({ id: calls.id })
    .from(calls)
    .where(
      and(
        endedCall(call),
        exists(builder.select({ id: participants.id }).from(participants).where(onTheCall)),
        notExists(
          builder.select({ id: participants.id }).from(participants).where(and(onTheCall, didNotConsent)),
        ),
      ),
    );

/** Which egress a path names, and who asks for it, as values of a query. */
export interface ReachedEgress extends ReachedCall {
  egress_id: number;
}

/** True for the egress of the path, where the call is within reach and has ended: then its audit logs may be seen. */
export const egressWithinReach = (egress: Placeholders<ReachedEgress>) =>
  and(eq(egresses.id, egress.egress_id), eq(egresses.call_id, endedCallId(egress)));

/** True for the egress of the path, where the recording may be seen too. */
export const viewableEgress = (egress: Placeholders<ReachedEgress>) =>
  and(eq(egresses.id, egress.egress_id), eq(egresses.call_id, consentedCallId(egress)));

/** The egress of the path, where the recording may be seen. */
export const viewableEgressOfPath = preparedQuery((egress: Placeholders<ReachedEgress>) =>
  builder.select(egressColumns).from(egresses).where(viewableEgress(egress)),
);

/** The recordings of the call of the path, where they may be seen. */
export const egressesOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(egressColumns)
    .from(egresses)
    .where(eq(egresses.call_id, consentedCallId(call)))
    .orderBy(asc(egresses.id)),
);

/** For the platform, which names egresses by the recording backend's own id. */
export const egressByKey = preparedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder.select(egressColumns).from(egresses).where(eq(egresses.egress_id, egress_id)),
);

/** The organization of which a recording names, or ever named, the file. */
export const ownerOfFile = preparedQuery(({ storage_key }: Placeholders<{ storage_key: string | null }>) =>
  builder
    .select({ organization_id: storageKeys.organization_id })
    .from(storageKeys)
    .where(eq(storageKeys.storage_key, storage_key)),
);

/**
 * The running egresses of which nothing was heard for a while, a portion of them, in which each organization has its turn:
 * those first that wait longest.
 */
export const silentEgresses = preparedQuery((silent: Placeholders<Turn & { now: number }>) => {
  const silentOf = (organization_id: SQL) =>
    builder
      .select({ id: egresses.id })
      .from(egresses)
      .where(and(eq(egresses.organization_id, organization_id), lte(egresses.check_at, silent.now)))
      .orderBy(asc(egresses.check_at));
  const owners = eachOf(egresses.organization_id, isNotNull(egresses.check_at));
  return builder
    .select({
      id: egresses.id,
      egress_id: egresses.egress_id,
      status: egresses.status,
      owner_id: ownerIdOf(egresses.organization_id),
    })
    .from(egresses)
    .where(and(inArray(egresses.id, rowsInTurn(egresses, owners, silentOf, silent)), isNotQuiet()))
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

/** The membership of a user in the organization of a known egress, or else of the call that its report names. */
export const memberOfEgressReport = preparedQuery(
  ({
    egress_id,
    call_key,
    user_id,
  }: Placeholders<{ egress_id: string; call_key: string; user_id: number | null }>) => {
    const known = builder
      .select({ organization_id: egresses.organization_id })
      .from(egresses)
      .where(eq(egresses.egress_id, egress_id));
    const named = builder
      .select({ organization_id: calls.organization_id })
      .from(calls)
      .where(eq(calls.key, call_key));
    return memberOf(sql<number>`coalesce(${known}, ${named})`, user_id);
  },
);

/** The entries of the access log about the recordings that a condition selects. */
export const egressEntries = <Values extends object>(
  condition: (values: Placeholders<Values>) => SQL | undefined,
) =>
  accessEntries<Values>("egress", (values) => ({
    ...subjectOfCall(egresses),
    resource_id: sql<number>`${egresses.id}`,
    from: sql`from ${egresses} where ${condition(values)}`,
  }));

export const egressReadEntry = egressEntries((egress: Placeholders<ReachedEgress>) => viewableEgress(egress));

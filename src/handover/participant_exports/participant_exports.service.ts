import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { allEntries } from "../../audit/access_logs/access_logs.lists.ts";
import { toAccessLog } from "../../audit/access_logs/access_logs.schemas.ts";
import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext } from "../../context.ts";
import { type BoundQuery, type RowsOf, runAll, runBatch } from "../../database/queries.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { toTimestamp } from "../../http/wire.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { EXPORTED_PAGE, EXPORTED_VISITS, PERSON_ENTRIES_LOOKED_THROUGH } from "../../tuning.ts";
import {
  addressOf,
  readCallRecord,
  recordOfPath,
  requireTextsEntries,
} from "../call_records/call_records.service.ts";
import { textsEntries } from "../call_records/call_records.sql.ts";
import { signVcon } from "../vcons/vcons.keys.ts";
import { vconOf } from "../vcons/vcons.ts";
import { exportRunning } from "./participant_exports.refusals.ts";
import { toExportedVisit } from "./participant_exports.schemas.ts";
import {
  callsOfPerson,
  exportEntry,
  type Lease,
  releaseLease,
  renewLease,
  takeLease,
  visitsOfPerson,
} from "./participant_exports.sql.ts";

interface Export {
  context: ClientContext;
  lease: Lease;
  reference_digest: string | null;
  /** The id of the export's own entry: the export has only earlier entries. */
  own: number;
}

/**
 * Takes the organization's lease, and returns the lines. They are read one after the other as the caller takes them, so that only one call
 * is in memory.
 *
 * @throws ApiError 429 while another export is running
 */
export async function exportParticipant(
  context: ClientContext,
  { external_reference }: { external_reference: string },
) {
  const { db, now, caller, settings, requester } = context;
  const organization_id = administeredOrganization(caller);
  const reference_digest = await digestOfReference(settings, external_reference);
  const lease = { organization_id, token: crypto.randomUUID() };
  const [taken, entries, calls] = await runBatch(db, [
    takeLease({ ...lease, now, lease_until: now + EXPORT_LEASE }),
    exportEntry(context, "read", { ...lease, reference_digest }),
    callsOfPerson({ organization_id, reference_digest }),
  ]);
  if (taken.length === 0) throw exportRunning();
  requireEntry(entries);
  const one = { context, lease, reference_digest, own: entries[0]?.id ?? 0 };
  async function* lines() {
    try {
      const { user_id } = requester;
      yield { type: "export" as const, external_reference, created_at: toTimestamp(now), user_id };
      for (const call of calls) yield await callLine(one, call);
      yield* visitLines(one);
      yield* accessLogLines(one);
    } finally {
      await runAll(db, releaseLease(lease));
    }
  }
  return lines();
}

const renewal = ({ lease }: Export) => renewLease({ ...lease, lease_until: Date.now() + EXPORT_LEASE });

function requireLease([renewed]: { id: number }[]): void {
  if (!renewed) throw new Error("Another export took over, because this one made no progress");
}

async function readRenewing<Queries extends BoundQuery<unknown>[]>(one: Export, ...queries: Queries) {
  const [renewed, ...rows] = await runBatch(one.context.db, [renewal(one), ...queries]);
  requireLease(renewed as { id: number }[]);
  return rows as RowsOf<Queries>;
}

async function callLine(
  one: Export,
  { person_ids, ...path }: { call_id: number; organization_user_id: number; person_ids: number[] },
) {
  const { context } = one;
  const of = recordOfPath(context, path);
  const statements = [renewal(one), textsEntries(context, "read", of)];
  const { record, entries } = await readCallRecord(context, of, statements);
  const [renewed = [], ofTexts = []] = entries;
  requireLease(renewed);
  if (!record) throw new Error("A call of the person was given to another holder during the export");
  requireTextsEntries(record, ofTexts);
  const vcon = await vconOf(record, { address: addressOf(context), onlyPeople: person_ids });
  const { AUDIT_SIGNING_KEY: key } = context.settings;
  return { type: "call" as const, ...(key ? { jws: await signVcon(key, vcon, context.now) } : { vcon }) };
}

async function* visitLines(one: Export) {
  const { lease, reference_digest } = one;
  const person = { organization_id: lease.organization_id, reference_digest };
  for (let after = 0; ; ) {
    const [visits] = await readRenewing(one, visitsOfPerson({ ...person, after, limit: EXPORTED_VISITS }));
    for (const visit of visits) yield { type: "visit" as const, visit: toExportedVisit(visit) };
    const last = visits[EXPORTED_VISITS - 1];
    if (!last) return;
    after = last.id;
  }
}

const NO_FILTERS = {
  call_id: null,
  acting_user: null,
  user_id: null,
  resource: null,
  event: null,
  first_date: null,
  last_date: null,
};

/** Searches the whole log in portions, because no index finds the entries about a person. */
async function* accessLogLines(one: Export) {
  const { lease, reference_digest, own } = one;
  const { organization_id } = lease;
  const looked_through = PERSON_ENTRIES_LOOKED_THROUGH;
  const listed = { ...NO_FILTERS, organization_id, reference_digest, looked_through, through: own - 1 };
  for (let after = 0; ; ) {
    const [entries, [end]] = await readRenewing(
      one,
      allEntries.page({ ...listed, after, limit: EXPORTED_PAGE }),
      allEntries.end({ ...listed, after, skipped: looked_through - 1 }),
    );
    for (const entry of entries) yield { type: "access_log" as const, access_log: toAccessLog(entry) };
    const last: { id: number } | undefined = entries[EXPORTED_PAGE - 1] ?? end;
    if (!last) return;
    after = last.id;
  }
}

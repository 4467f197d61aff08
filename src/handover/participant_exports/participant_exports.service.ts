import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { allEntries } from "../../audit/access_logs/access_logs.lists.ts";
import { toAccessLog } from "../../audit/access_logs/access_logs.schemas.ts";
import { digestOfReference, type OfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext } from "../../context.ts";
import { runAll, runBatch, runFirst } from "../../database/queries.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { toTimestamp } from "../../http/wire.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { EXPORTED_PAGE, EXPORTED_VISITS, PERSON_ENTRIES_LOOKED_THROUGH } from "../../tuning.ts";
import { addressOf, requireCallRecord } from "../call_records/call_records.service.ts";
import { signVcon } from "../vcons/vcons.keys.ts";
import { vconOf } from "../vcons/vcons.ts";
import { exportRunning, type Line, toExportedVisit } from "./participant_exports.schemas.ts";
import {
  callsOfPerson,
  exportEntry,
  type Lease,
  releaseLease,
  renewLease,
  takeLease,
  visitsOfPerson,
} from "./participant_exports.sql.ts";

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
  const person = { organization_id, reference_digest: await digestOfReference(settings, external_reference) };
  const lease = { organization_id, token: crypto.randomUUID() };
  const [taken, entries, calls] = await runBatch(db, [
    takeLease({ ...lease, now, lease_until: now + EXPORT_LEASE }),
    exportEntry(context, "read", { ...lease, ...person }),
    callsOfPerson(person),
  ]);
  if (taken.length === 0) throw exportRunning();
  requireEntry(entries);
  const through = (entries[0]?.id ?? 0) - 1;
  async function* portions(): AsyncGenerator<Line[]> {
    const { user_id } = requester;
    yield [{ type: "export", external_reference, created_at: toTimestamp(now), user_id }];
    for (const call of calls) yield [await callLine(context, call)];
    yield* visitLines(context, person);
    yield* accessLogLines(context, { ...person, through });
  }
  return leased(context, lease, portions());
}

/** Reads each portion only while the lease holds, and renews the lease in its second half. */
async function* leased({ db, now }: ClientContext, lease: Lease, portions: AsyncIterable<Line[]>) {
  let renewed_at = now;
  try {
    for await (const lines of portions) {
      yield* lines;
      const time = Date.now();
      if (time < renewed_at + EXPORT_LEASE / 2) continue;
      if (!(await runFirst(db, renewLease({ ...lease, lease_until: time + EXPORT_LEASE }))))
        throw new Error("Another export took over, because this one made no progress");
      renewed_at = time;
    }
  } finally {
    await runAll(db, releaseLease(lease));
  }
}

async function callLine(
  context: ClientContext,
  { person_ids, ...path }: { call_id: number; organization_user_id: number; person_ids: number[] },
) {
  const record = await requireCallRecord(context, path, []);
  const vcon = await vconOf(record, { address: addressOf(context), onlyPeople: person_ids });
  const { AUDIT_SIGNING_KEY: key } = context.settings;
  return { type: "call" as const, ...(key ? { jws: await signVcon(key, vcon, context.now) } : { vcon }) };
}

async function* visitLines({ db }: ClientContext, person: OfReference) {
  for (let after = 0; ; ) {
    const visits = await runAll(db, visitsOfPerson({ ...person, after, limit: EXPORTED_VISITS }));
    yield visits.map((visit) => ({ type: "visit" as const, visit: toExportedVisit(visit) }));
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
async function* accessLogLines({ db }: ClientContext, listed: OfReference & { through: number }) {
  const looked_through = PERSON_ENTRIES_LOOKED_THROUGH;
  for (let after = 0; ; ) {
    const values = { ...NO_FILTERS, ...listed, looked_through, after };
    const [entries, [end]] = await runBatch(db, [
      allEntries.page({ ...values, limit: EXPORTED_PAGE }),
      allEntries.end({ ...values, skipped: looked_through - 1 }),
    ]);
    yield entries.map((entry) => ({ type: "access_log" as const, access_log: toAccessLog(entry) }));
    const last: { id: number } | undefined = entries[EXPORTED_PAGE - 1] ?? end;
    if (!last) return;
    after = last.id;
  }
}

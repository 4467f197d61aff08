import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { allEntries } from "../../audit/access_logs/access_logs.lists.ts";
import { toAccessLog } from "../../audit/access_logs/access_logs.schemas.ts";
import { digestOfReference, type OfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { pagesFrom, runAll, runBatch, runFirst } from "../../database/queries.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { toTimestamp } from "../../http/wire.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { EXPORTED_PAGE, EXPORTED_ROWS, PERSON_ENTRIES_LOOKED_THROUGH } from "../../tuning.ts";
import { requireCallRecord } from "../call_records/call_records.service.ts";
import { signVcon, vconOf } from "../vcons/vcons.ts";
import { exportRunning, type Line, toExportedVisit } from "./participant_exports.schemas.ts";
import * as sql from "./participant_exports.sql.ts";

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
  const callsAfter = (after: number) => sql.callsOfPerson({ ...person, after });
  const visitsAfter = (after: number) => sql.visitsOfPerson({ ...person, after });
  const [taken, entries, calls, visits] = await runBatch(db, [
    sql.takeLease({ ...lease, now }),
    sql.exportEntry(context, "read", { ...lease, ...person }),
    callsAfter(0),
    visitsAfter(0),
  ]);
  if (taken.length === 0) throw exportRunning();
  requireEntry(entries);
  const through = (entries[0]?.id ?? 0) - 1;
  async function* portions(): AsyncGenerator<Line[]> {
    const { user_id } = requester;
    const { AUDIT_SIGNING_KEY: key } = settings;
    yield [{ type: "export", external_reference, created_at: toTimestamp(now), user_id }];
    for await (const page of pagesFrom(db, calls, EXPORTED_ROWS, callsAfter))
      for (const { id: call_id, person_ids, ...owner } of page) {
        const record = await requireCallRecord(context, { call_id, ...owner }, []);
        const vcon = await vconOf(record, person_ids);
        yield [{ type: "call", ...(key ? { jws: await signVcon(key, vcon, now) } : { vcon }) }];
      }
    for await (const page of pagesFrom(db, visits, EXPORTED_ROWS, visitsAfter))
      yield page.map((visit) => ({ type: "visit", visit: toExportedVisit(visit) }));
    yield* accessLogLines(db, { ...person, through });
  }
  return leased(context, lease, portions());
}

/** Reads each portion only while the lease holds, and renews the lease in its second half. */
async function* leased(context: ClientContext, lease: sql.Lease, portions: AsyncIterable<Line[]>) {
  const { db } = context;
  let renewed_at = context.now;
  try {
    for await (const lines of portions) {
      yield* lines;
      const now = Date.now();
      if (now < renewed_at + EXPORT_LEASE / 2) continue;
      if (!(await runFirst(db, sql.takeLease({ ...lease, now }))))
        throw new Error("Another export took over, because this one made no progress");
      renewed_at = now;
    }
  } finally {
    await runAll(db, sql.releaseLease(lease));
  }
}

const ANY = { call_id: null, acting_user: null, user_id: null, resource: null, event: null };

/** Searches the whole log in portions, because no index finds the entries about a person. */
async function* accessLogLines(db: Database, of: OfReference & { through: number }): AsyncGenerator<Line[]> {
  const looked_through = PERSON_ENTRIES_LOOKED_THROUGH;
  for (let after = 0; ; ) {
    const values = { ...ANY, first_date: null, last_date: null, ...of, looked_through, after };
    const [entries, [end]] = await runBatch(db, [
      allEntries.page({ ...values, limit: EXPORTED_PAGE }),
      allEntries.end({ ...values, skipped: looked_through - 1 }),
    ]);
    yield entries.map((entry) => ({ type: "access_log", access_log: toAccessLog(entry) }));
    const last: { id: number } | undefined = entries[EXPORTED_PAGE - 1] ?? end;
    if (!last) return;
    after = last.id;
  }
}

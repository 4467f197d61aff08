import type * as z from "zod";
import { reachedCall } from "../../calls/calls/calls.sql.ts";
import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { endOfDate } from "../../http/dates.ts";
import { type Page, pageWindow, toPage } from "../../http/pagination.ts";
import { egressNotFound } from "../egresses/egresses.refusals.ts";
import type { AuditLog, auditLogParams, auditLogQuery } from "./egress_audit_logs.schemas.ts";
import * as sql from "./egress_audit_logs.sql.ts";

/**
 * The audit log of an egress of an ended call, newest first; `from` and `to` are days, both included. It stays readable
 * after a participant withdraws consent, because the record of who saw the recording must not disappear with it.
 */
export async function listAuditLogs(
  { db, caller }: ClientContext,
  { egress_id, ...call }: z.output<ReturnType<typeof auditLogParams>>,
  { event, from, to, ...page }: z.output<ReturnType<typeof auditLogQuery>>,
): Promise<Page<AuditLog>> {
  const egress = { ...reachedCall(caller, call), egress_id };
  const entries = {
    ...egress,
    event: event ?? null,
    from: from ? Date.parse(from) : 0,
    before: to ? endOfDate(to) : Number.MAX_SAFE_INTEGER,
  };
  const queries = event ? sql.auditLogsOfEvent : sql.allAuditLogs;
  const [[found], [counted], items] = await runBatch(db, [
    sql.auditedEgress(egress),
    from || to ? queries.total(entries) : sql.totalOfEntries({ ...egress, lists: sql.listsOfEvents(event) }),
    queries.page({ ...entries, ...pageWindow(page) }),
  ]);
  if (!found) throw egressNotFound();
  return toPage(page, counted?.total ?? 0, items);
}

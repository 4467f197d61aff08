import type { ClientContext } from "../../context.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { logFault } from "../../http/log.ts";
import type { AfterQuery } from "../../http/pagination.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { fileOf } from "./access_log_seals.files.ts";
import { fileUnavailable, sealedDayNotFound } from "./access_log_seals.refusals.ts";
import { fileEntry, sealOfDay, sealsAfter } from "./access_log_seals.sql.ts";

export async function listSeals({ db, caller }: ClientContext, { after, per_page }: AfterQuery) {
  const organization_id = administeredOrganization(caller);
  const seals = await runAll(db, sealsAfter({ organization_id, after, limit: per_page }));
  return { seals, next_after: seals.at(-1)?.last_id ?? after };
}

/**
 * Opens the file of a sealed day. The read is recorded after that, so that a failing bucket leaves no entry.
 *
 * @throws ApiError 404 if the day is not sealed, or its file is no longer kept; 503 if the bucket fails
 */
export async function openSealedDay(context: ClientContext, date: string): Promise<R2ObjectBody> {
  const { db, auditLogs, caller } = context;
  const organization_id = administeredOrganization(caller);
  const file = await auditLogs.get(fileOf(organization_id, date)).catch((error) => {
    logFault({ organization_id }, error);
    throw fileUnavailable();
  });
  if (!file) throw sealedDayNotFound();
  const of = { organization_id, date };
  const [[seal], entries] = await runBatch(db, [sealOfDay(of), fileEntry(context, "read", of)]);
  if (!seal) {
    // The day is just being sealed: its file exists, but its seal does not.
    await file.body.cancel();
    throw sealedDayNotFound();
  }
  requireEntry(entries);
  return file;
}

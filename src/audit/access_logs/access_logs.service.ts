import type { ClientContext } from "../../context.ts";
import { pagesFrom, runBatch } from "../../database/queries.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { MAX_EXPORTED_ACCESS_LOGS } from "../../limits.ts";
import { ACCESS_LOGS_LOOKED_THROUGH, EXPORTED_PAGE } from "../../tuning.ts";
import { requireEntry } from "./access_logs.entries.ts";
import {
  allEntries,
  entriesOfActingUser,
  entriesOfCall,
  type ListedEntries,
  listOfEntriesEntry,
} from "./access_logs.lists.ts";
import type { AccessLog, AccessLogsQuery } from "./access_logs.schemas.ts";
import { digestOfReference } from "./access_logs.sql.ts";

/** The read is recorded in an entry that is not among the listed ones. */
export async function listAccessLogs(context: ClientContext, { per_page, ...query }: AccessLogsQuery) {
  const { found, end } = await readEntries(context, query, per_page + 1, { isExport: false });
  const access_logs = found.slice(0, per_page);
  return { access_logs, next_after: (found.length > per_page ? access_logs.at(-1)?.id : end) ?? null };
}

/** Returns as many entries as a request may look through. */
export async function exportAccessLogs(
  context: ClientContext,
  query: Omit<AccessLogsQuery, "per_page">,
): Promise<{ pages: AsyncIterable<AccessLog[]>; next_after: number | null }> {
  const read = await readEntries(context, query, EXPORTED_PAGE, { isExport: true });
  const { list, values, found, end, own } = read;
  const through = end ?? own - 1;
  const pageAfter = (after: number) => list.page({ ...values, after, through, limit: EXPORTED_PAGE });
  return { pages: pagesFrom(context.db, found, EXPORTED_PAGE, pageAfter), next_after: end };
}

/** @returns also `end`, the last id that the request looks through (null at the end of the log), and `own`, its own entry's id */
async function readEntries(
  context: ClientContext,
  query: Omit<AccessLogsQuery, "per_page">,
  limit: number,
  { isExport }: { isExport: boolean },
) {
  const { db, caller, settings } = context;
  const organization_id = administeredOrganization(caller);
  const reference_digest = await digestOfReference(settings, query.external_reference);
  const { after, call_id = null, acting_user = null, user_id = null, resource = null, event = null } = query;
  const { from: first_date = null, to: last_date = null } = query;
  const filters = { call_id, acting_user, user_id, resource, event, first_date, last_date, reference_digest };
  const listed = { organization_id, after, ...filters };
  const { list, isFiltered, looked_through } = chooseList(filters);
  const values = { ...listed, looked_through, through: Number.MAX_SAFE_INTEGER };
  const [found, [last], entries] = await runBatch(db, [
    list.page({ ...values, limit }),
    // Without filters, a JSON page shows all entries that the request looks through, so its end is known.
    list.end({
      ...values,
      looked_through: isFiltered || isExport ? looked_through : 0,
      skipped: looked_through - 1,
    }),
    listOfEntriesEntry(context, "read", { organization_id }),
  ]);
  requireEntry(entries);
  return { list, values, found, end: last?.id ?? null, own: entries[0]?.id ?? 0 };
}

/** The list whose index finds the fewest entries, and how many entries to look through. */
function chooseList({ call_id, ...filters }: Omit<ListedEntries, "organization_id" | "after">) {
  const { acting_user, ...others } = filters;
  const list = call_id !== null ? entriesOfCall : acting_user !== null ? entriesOfActingUser : allEntries;
  const further = list === entriesOfCall ? filters : others;
  const isFiltered = Object.values(further).some((filter) => filter !== null);
  return {
    list,
    isFiltered,
    looked_through: isFiltered ? ACCESS_LOGS_LOOKED_THROUGH : MAX_EXPORTED_ACCESS_LOGS,
  };
}

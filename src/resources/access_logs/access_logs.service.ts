import type { ClientContext } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { endOfDate } from "../../http/dates.ts";
import { MAX_EXPORTED_ACCESS_LOGS } from "../../limits.ts";
import { ACCESS_LOGS_LOOKED_THROUGH, ACCESS_LOGS_LOOKED_THROUGH_BY_REFERENCE } from "../../tuning.ts";
import { administeredOrganization } from "../roles/roles.policy.ts";
import { requireEntry } from "./access_logs.entries.ts";
import {
  allEntries,
  type EntryList,
  entriesOfActingUser,
  entriesOfCall,
  entriesOfReference,
  type ListedEntries,
  listOfEntriesEntry,
} from "./access_logs.lists.ts";
import { accessLogsNotFound, tooManyCalls } from "./access_logs.refusals.ts";
import type { AccessLog, AccessLogsQuery } from "./access_logs.schemas.ts";

export interface AccessLogPage {
  access_logs: AccessLog[];
  /** null at the end. */
  next_after: number | null;
}

/** The next entries after an id, oldest first. It records that they are read, in an entry that is not among them. */
export async function listAccessLogs(
  context: ClientContext,
  { per_page, ...query }: AccessLogsQuery,
): Promise<AccessLogPage> {
  const { db, caller } = context;
  const organization_id = administeredOrganization(caller, accessLogsNotFound);
  const values = toListValues(organization_id, query);
  const { list, isFiltered, looked_through } = chooseList(values);
  const byReference = list === entriesOfReference;
  const [found, [last], entries] = await runBatch(db, [
    list.page({ ...values, looked_through, limit: per_page + 1 }),
    // Where all that is looked through is shown, its end is known.
    list.end({ ...values, looked_through: isFiltered ? looked_through : 0, skipped: looked_through - 1 }),
    listOfEntriesEntry(context, "read", {
      organization_id,
      external_reference: byReference ? values.external_reference : null,
    }),
  ]);
  if (byReference && entries.length === 0) throw tooManyCalls();
  requireEntry(entries);
  const access_logs = found.slice(0, per_page);
  const end = isFiltered ? last : found[looked_through - 1];
  return { access_logs, next_after: (found.length > per_page ? access_logs.at(-1) : end)?.id ?? null };
}

/** As many at once as a request looks through. */
export const exportAccessLogs = (context: ClientContext, query: AccessLogsQuery): Promise<AccessLogPage> =>
  listAccessLogs(context, { ...query, per_page: MAX_EXPORTED_ACCESS_LOGS });

function toListValues(
  organization_id: number,
  { after, from, to, ...filters }: Omit<AccessLogsQuery, "per_page">,
): ListedEntries {
  return {
    organization_id,
    after,
    call_id: filters.call_id ?? null,
    acting_user: filters.acting_user ?? null,
    external_reference: filters.external_reference ?? null,
    user_id: filters.user_id ?? null,
    resource: filters.resource ?? null,
    event: filters.event ?? null,
    first_date: from ?? null,
    last_date: to ?? null,
    from: from ? Date.parse(from) : null,
    before: to ? endOfDate(to) : null,
  };
}

/** The index that leads to the fewest entries, and how many are looked through. */
function chooseList(values: ListedEntries): { list: EntryList; isFiltered: boolean; looked_through: number } {
  const { user_id, resource, event, from, before } = values;
  const list = entryListFor(values);
  const others = [
    user_id,
    resource,
    event,
    from,
    before,
    list === entriesOfActingUser ? null : values.acting_user,
  ];
  const isFiltered = others.some((filter) => filter !== null);
  if (list === entriesOfReference)
    return { list, isFiltered, looked_through: ACCESS_LOGS_LOOKED_THROUGH_BY_REFERENCE };
  return {
    list,
    isFiltered,
    looked_through: isFiltered ? ACCESS_LOGS_LOOKED_THROUGH : MAX_EXPORTED_ACCESS_LOGS,
  };
}

function entryListFor({ call_id, external_reference, acting_user }: ListedEntries): EntryList {
  if (call_id !== null) return entriesOfCall;
  if (external_reference !== null) return entriesOfReference;
  return acting_user === null ? allEntries : entriesOfActingUser;
}

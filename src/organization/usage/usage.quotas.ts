import type { ClientContext } from "../../context.ts";
import { runsOn } from "../../database/database.ts";
import { QUOTAS, type Quota } from "../../database/enums.ts";
import { dateOf } from "../../http/dates.ts";
import { WRITE_SIZE } from "../../limits.ts";
import { countReserved, countWrites } from "./usage.sql.ts";

/*
 * Daily quotas limit the writes of an organization's API clients, and the access log entries that they cause. Triggers refuse
 * anything beyond a quota (usage.triggers.sql). Some requests must work even when the quotas are used up, so they have reserves:
 * one for signing in, one for legal holds, taking rights away, deleting, and reading the access log. The first counts the sign-ins,
 * the second the entries that its requests cause. A route declares its reserve (`inReserve`).
 */

/** Makes the transactions of a request count its writes and its access log entries. */
export function countStored(context: ClientContext, method: string, quota: Quota): void {
  const { requester } = context;
  requester.quota = quota;
  if (["GET", "HEAD"].includes(method)) return;
  const countWrite = () => {
    const { caller, now, writes: count } = context;
    const { organization_id, api_client_id } = caller;
    // A verb can still choose a reserve.
    if (requester.quota !== QUOTAS.ordinary) return [];
    return [countWrites({ organization_id, api_client_id, date: dateOf(now), count })];
  };
  context.db = { ...runsOn(context.db), countWrite };
}

/** @param size in bytes: of the body, or of what the write stores if that is larger */
export function countBytes(context: ClientContext, size: number): void {
  context.writes = Math.max(context.writes, Math.ceil(size / WRITE_SIZE));
}

/** Counts a deletion that has no access log entry. */
export const countDeletion = ({ caller: { organization_id }, now }: ClientContext) =>
  countReserved({ organization_id, date: dateOf(now), count: 1 });

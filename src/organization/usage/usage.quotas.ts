import type { ClientContext } from "../../context.ts";
import { QUOTAS, type Quota } from "../../database/enums.ts";
import { dateOf } from "../../http/dates.ts";
import { WRITE_SIZE } from "../../limits.ts";
import { countReserved, countWrites } from "./usage.sql.ts";

/*
 * Triggers refuse writes and access log entries beyond a quota (usage.triggers.sql). Some requests must work even then, so they
 * have reserves, which their routes declare (`inReserve`): one for signing in, which counts sign-ins; one for legal holds,
 * taking rights away, deleting, and reading the access log, which counts the entries that they cause.
 */

export function countStored(context: ClientContext, method: string, quota: Quota): void {
  const { requester } = context;
  requester.quota = quota;
  if (["GET", "HEAD"].includes(method)) return;
  context.countWrite = () => {
    const { caller, now, writes: count } = context;
    const { organization_id, api_client_id } = caller;
    // A verb can still choose a reserve.
    if (requester.quota !== QUOTAS.ordinary) return [];
    return [countWrites({ organization_id, api_client_id, date: dateOf(now), count })];
  };
}

/** @param size in bytes: of the body, or of what the write stores if that is larger */
export function countBytes(context: ClientContext, size: number): void {
  context.writes = Math.max(context.writes, Math.ceil(size / WRITE_SIZE));
}

/** For a deletion that has no access log entry. */
export const countDeletion = ({ caller: { organization_id }, now }: ClientContext) =>
  countReserved({ organization_id, date: dateOf(now), count: 1 });

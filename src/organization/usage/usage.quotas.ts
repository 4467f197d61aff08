import type { ClientContext } from "../../context.ts";
import { withBeside } from "../../database/database.ts";
import { dateOf } from "../../http/dates.ts";
import { WRITE_SIZE } from "../../limits.ts";
import { countWrites } from "./usage.sql.ts";

/*
 * Daily quotas limit the writes of an organization's API clients, and the access log entries that they cause. Triggers refuse
 * anything beyond a quota (usage.triggers.sql). Some requests do not count and are never refused: signing in, legal holds, taking
 * rights away, deleting, and reading the access log. Their routes declare `outsideQuotas`; a DELETE needs no declaration. So a
 * sign-in is recorded even when the day's quota is used up, and signing in cannot use up the quota of others. Only the rate limits
 * of the client and its organization limit the entries of these requests.
 */

/** Makes the transactions of a request count its writes and its access log entries. */
export function countStored(context: ClientContext, method: string): void {
  // A deletion removes data that has already counted.
  if (method === "DELETE") return;
  context.requester.is_counted = true;
  if (["GET", "HEAD"].includes(method)) return;
  context.writes = 1;
  const { organization_id, api_client_id } = context.caller;
  context.db = withBeside(context.db, (isChange) => {
    const { now, writes: count } = context;
    const counted = { organization_id, api_client_id, date: dateOf(now), count, is_change: Number(isChange) };
    return count > 0 ? [countWrites(counted)] : [];
  });
}

/** @param size the size of the body in bytes */
export function countBody(context: ClientContext, size: number): void {
  if (context.writes > 0) context.writes = Math.max(1, Math.ceil(size / WRITE_SIZE));
}

import { and, gt, isNull, type SQL } from "drizzle-orm";
import type { Value } from "../../database/queries.ts";
import { invites } from "../../database/schema.ts";

/** True for an invite that can still be accepted. */
export const isPending = (now: Value<number>): SQL | undefined =>
  and(isNull(invites.used_at), gt(invites.expires_at, now));

import { and, eq, gt, isNull, type SQL } from "drizzle-orm";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { invites } from "../../database/schema.ts";

/** True for an invite that can still be accepted. */
export const isPending = (now: Value<number>): SQL | undefined =>
  and(isNull(invites.used_at), gt(invites.expires_at, now));

/** Selects the pending invite of this email. */
export const pendingInviteOf = namedQuery(
  ({ organization_id, email, now }: Placeholders<{ organization_id: number; email: string; now: number }>) =>
    builder
      .select({ id: invites.id })
      .from(invites)
      .where(and(eq(invites.organization_id, organization_id), eq(invites.email, email), isPending(now))),
);

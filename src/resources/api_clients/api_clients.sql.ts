import { and, isNull, type SQL, sql } from "drizzle-orm";
import { builder, type Value } from "../../database/queries.ts";
import { apiClients } from "../../database/schema.ts";

export const apiClientColumns = {
  id: apiClients.id,
  name: apiClients.name,
  organization_user_id: apiClients.organization_user_id,
  client_id: apiClients.client_id,
  revoked_at: apiClients.revoked_at,
};

/** Revokes clients that are not revoked yet. */
export const revokeClients = (condition: SQL, now: Value<number>) =>
  builder
    .update(apiClients)
    .set({ revoked_at: sql`${now}`, updated_at: sql`${now}` })
    .where(and(condition, isNull(apiClients.revoked_at)));

import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn } from "../../database/columns.ts";
import type { AccessEvent, AccessResource, PurposeOfUse } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * One entry for each requested operation that reads or changes data, written in the transaction of that operation (see
 * audit/access_logs). An erasure has one for each thing that it erases. Entries have ids and no texts. They are never changed, and are deleted only after their day was sealed (see
 * access_logs.triggers.sql).
 *
 * - `user_id`, `api_client_id`, `request_id`: the caller and the request. `request_id` is a UUID as 16 bytes: as text it would be the
 *   longest column of perhaps the largest table.
 * - `acting_user`, `purpose`: the person for whom the client asked, and why, according to the client.
 * - `reference_digest`: a keyed digest of the reference that was searched for or erased, by which the log can be searched.
 */
export const accessLogs = sqliteTable(
  "access_logs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    at: integer().notNull(),
    event: text().$type<AccessEvent>().notNull(),
    resource: text().$type<AccessResource>().notNull(),
    resource_id: integer(),
    call_id: integer(),
    organization_user_id: integer(),
    user_id: integer().notNull(),
    api_client_id: integer(),
    acting_user: text(),
    purpose: text().$type<PurposeOfUse>(),
    request_id: blob(),
    reference_digest: text(),
    /** Whether the entry counts toward the quotas of its day (see usage.quotas.ts). Not part of the log. */
    is_counted: integer({ mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    uniqueIndex("access_logs_by_organization").on(t.organization_id, t.id),
    index("access_logs_of_call").on(t.organization_id, t.call_id, t.id).where(sql`call_id is not null`),
    index("access_logs_of_acting_user")
      .on(t.organization_id, t.acting_user, t.id)
      .where(sql`acting_user is not null`),
  ],
);

/**
 * When the access log last recorded that a client read the waiting participants of a room, for each acting user and purpose. A client
 * that polls the list is recorded once a minute. `acting_user` and `purpose` are empty if the client does not send them.
 */
export const waitingListReads = sqliteTable(
  "waiting_list_reads",
  {
    organization_id: organizationId(),
    api_client_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    acting_user: text().notNull(),
    purpose: text().notNull(),
    recorded_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.api_client_id, t.waiting_room_id, t.acting_user, t.purpose] }),
    index("waiting_list_reads_by_age").on(t.organization_id, t.recorded_at),
  ],
);

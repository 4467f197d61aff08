import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn } from "../../database/columns.ts";
import {
  type AccessEvent,
  type AccessResource,
  type PurposeOfUse,
  QUOTAS,
  type Quota,
} from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * One entry for each requested operation that reads or changes data, written in the transaction of that operation (see
 * audit/access_logs). An erasure has one for each thing that it erases. Entries have ids and no texts. They are never changed, and are deleted only after their day was sealed (see
 * access_logs.triggers.sql).
 *
 * - `user_id`, `api_client_id`, `request_id`: the caller and the request. `request_id` is a UUID as 16 bytes: as text it would be the
 *   longest column of perhaps the largest table.
 * - `acting_user`, `purpose`: the person for whom the client asked, and why, according to the client.
 * - `shown`: the ids of the visits or participants on the page of a list that shows names; null for other entries.
 * - `from_date`, `to_date`: the dates by which a list was filtered.
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
    shown: text({ mode: "json" }).$type<number[]>(),
    from_date: text(),
    to_date: text(),
    reference_digest: text(),
    /** The quota of its day that the entry counts towards (see usage.triggers.sql). Not part of the log. */
    quota: integer().$type<Quota>().notNull().default(QUOTAS.none),
  },
  (t) => [
    index("access_logs_by_organization").on(t.organization_id, t.id),
    index("access_logs_of_call").on(t.organization_id, t.call_id, t.id).where(sql`call_id is not null`),
    index("access_logs_of_acting_user")
      .on(t.organization_id, t.acting_user, t.id)
      .where(sql`acting_user is not null`),
    // For the list of a room's waiting participants, which clients poll.
    index("access_logs_of_waiting_list")
      .on(t.api_client_id, t.resource_id, t.acting_user, t.at)
      .where(sql`resource = 'waiting_room'`),
    // For repeated sign-ins.
    index("access_logs_of_sign_ins")
      .on(t.organization_user_id, t.api_client_id, t.at)
      .where(sql`event = 'sign_in'`),
  ],
);

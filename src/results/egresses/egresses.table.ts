import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  sqliteView,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { calls } from "../../calls/calls/calls.table.ts";
import { idColumn, parentId, retention, timestamps, withinOrganization } from "../../database/columns.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * Recordings.
 *
 * - `egress_id`: the recording backend's own id.
 * - `changed_by_user_id`: the user named in the report of the last change; null if it named nobody. The triggers that write the audit
 *   entries take the user from here (see audited_fields.ts).
 * - `call_id`: null while nobody has reported the call. `call_key` is then its key: when the call is reported, a trigger sets
 *   `call_id` (see egresses.triggers.sql).
 * - `ended_at`: null until the recording has ended. `early_ended_at` is an end that was reported before that.
 * - `started_at`, `duration` (milliseconds), `size` (bytes): describe the file that can be downloaded.
 * - `deletion_due_at`: when the cron next tries to delete the file; null if it must not be deleted. It is set before a file is deleted
 *   and cleared afterwards, so that no deletion is forgotten.
 * - `deletion_requested_by`: the user who requested the deletion; null if the recording is only past its retention, which the
 *   organization may still extend.
 * - `is_announced`: whether the event that the recording can be read was written (see egresses.triggers.sql).
 * - `check_at`: when the cron asks the recording backend, unless a report comes first; null once it has ended.
 * - `stop_due_at`: when the recording backend is next asked to stop because somebody on the call refused; null if that is not needed.
 *   Triggers set it (see egresses.triggers.sql).
 */
export const egresses = sqliteTable(
  "egresses",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer(),
    egress_id: text().notNull(),
    call_key: text(),
    status: text().notNull(),
    error: text(),
    is_stopped: integer({ mode: "boolean" }).notNull(),
    ended_at: integer(),
    early_ended_at: integer(),
    storage_key: text(),
    started_at: integer(),
    duration: integer(),
    size: integer(),
    changed_by_user_id: integer(),
    deletion_due_at: integer(),
    deletion_requested_by: integer(),
    is_announced: integer({ mode: "boolean" }).notNull().default(false),
    ...retention,
    check_at: integer(),
    stop_due_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("egresses_by_key").on(t.organization_id, t.egress_id),
    // Without the WHERE, SQLite would also use this index to find egresses without a call.
    index("egresses_by_call").on(t.call_id, t.id).where(sql`call_id is not null`),
    index("egresses_with_call").on(t.organization_id, t.id).where(sql`call_id is not null`),
    index("egresses_without_call").on(t.organization_id, t.call_key).where(sql`call_id is null`),
    // The cron reads recordings past their retention, those without a call, and those due for deletion.
    index("egresses_retained")
      .on(t.organization_id, t.call_ended_at)
      .where(sql`not is_held and deletion_due_at is null and status <> 'egress_deleted'`),
    index("egresses_unclaimed")
      .on(t.organization_id, t.updated_at)
      .where(sql`call_id is null and deletion_due_at is null and status <> 'egress_deleted'`),
    index("egresses_to_delete")
      .on(t.organization_id, t.deletion_due_at)
      .where(sql`not is_held and deletion_due_at is not null`),
    index("egresses_to_check").on(t.organization_id, t.check_at).where(sql`check_at is not null`),
    index("egresses_to_stop")
      .on(t.organization_id, t.stop_due_at)
      .where(sql`stop_due_at is not null and not is_stopped`),
    withinOrganization(t, t.call_id, calls),
  ],
);

/**
 * Every file that a recording ever named. No other recording can name it, and it is deleted with the recording (see
 * egress_files.triggers.sql).
 */
export const egressFiles = sqliteTable(
  "egress_files",
  {
    organization_id: organizationId(),
    storage_key: text().notNull(),
    egress_id: parentId(() => egresses.id),
    is_deleted: integer({ mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.storage_key] }),
    index("egress_files_left").on(t.egress_id).where(sql`not is_deleted`),
  ],
);

/** The recordings that can be seen: see egresses.triggers.sql. */
export const visibleRecordings = sqliteView("visible_recordings", {
  id: integer(),
  call_id: integer(),
}).existing();

import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuditEvent, Role } from "./enums.ts";

/**
 * The lengths of lists whose rows would take too long to count. Triggers maintain them (see list_totals.triggers.sql).
 * `owner_id` is the owner of the list: an egress (for audit entries, by event), a shard (for organizations), or an organization.
 * Retired waiting rooms and revoked API clients count too.
 */
export const listTotals = sqliteTable(
  "list_totals",
  { list: text().$type<ListName>().notNull(), owner_id: integer().notNull(), total: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.owner_id] })],
);

export type ListName =
  | "api_clients"
  | "invites"
  | "issuers"
  | "organization_users"
  | `organization_users:${Role}`
  | "organizations"
  | "waiting_rooms"
  | `egress_audit_logs:${AuditEvent}`;

/** The highest number given out so far to items that have no rows of their own. */
export const sequences = sqliteTable("sequences", {
  name: text().$type<"transcript_lines">().primaryKey(),
  value: integer().notNull(),
});

/**
 * Settings of this database as a whole.
 *
 * - `quiet` exists from a restore until `npm run restore -- --resume`, and its value is the time when it was written. While it
 *   exists, no background work runs on this database (see quiet.ts).
 * - `range` is the range from which the database gives out ids (see `shards`). Without it, the range is 0, as in the directory.
 * - `shard` is the number of the database's binding. It reveals bindings that were mixed up.
 * - `cron` is the time of the last run of the cron, and `backup` the time when `npm run backup -- --shipped` was last called.
 */
export const databaseSettings = sqliteTable("database_settings", {
  name: text().$type<"quiet" | "range" | "shard" | "cron" | "backup">().primaryKey(),
  value: integer().notNull(),
});

/**
 * Organizations that are moving to another database, or have moved there (see src/dev/move.ts): background work skips them, and
 * triggers refuse changes to their rows. `shard` is the database in which the organization lives, or null while it is leaving this
 * one. `since` is the time of the switch. Before the switch, it is the time when the command started, so that two runs never act on
 * one move. `client_ids` is a JSON array of the organization's clients: their ids name the database in which they were created, so
 * the service first looks for them there.
 */
export const moves = sqliteTable("moves", {
  organization_id: integer().primaryKey(),
  shard: integer(),
  since: integer().notNull(),
  client_ids: text().notNull().default("[]"),
});

/** Always empty: a trigger refuses every row, which rolls back its batch (see write_conflicts.triggers.sql). */
export const writeConflicts = sqliteTable("write_conflicts", { reason: text().notNull() });

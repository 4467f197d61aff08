import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, withinOrganization } from "../../database/columns.ts";
import type { ConsentDecision, Reporter } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { participants } from "../participants/participants.table.ts";

/**
 * The decisions of participants about being recorded, as they were reported. This is a ledger: its rows are never changed or deleted
 * (see append_only.ts). consents.merge.ts decides what a report means.
 *
 * - `said_at`: the time of the decision according to the report; null if the report has none. A repeated report is recognized by it.
 * - `decided_at`: the time from which the decision counts. It can be earlier than `said_at`, because a time in the future counts as now.
 * - `method`: how the participant told the decision.
 */
export const consents = sqliteTable(
  "consents",
  {
    id: idColumn(),
    organization_id: organizationId(),
    participant_id: integer().notNull(),
    reporter: text().$type<Reporter>().notNull(),
    decision: text().$type<ConsentDecision>().notNull(),
    decided_at: integer().notNull(),
    said_at: integer(),
    method: text(),
    reported_at: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    // Not a partial index, because that would not serve the queries for a participant's decisions. Not `coalesce`, because drizzle-kit
    // does not accept a comma in an expression.
    uniqueIndex("consents_of_participant").on(
      t.participant_id,
      t.reporter,
      t.decision,
      sql`case when said_at is null then decided_at else said_at end`,
    ),
    withinOrganization(t, t.participant_id, participants),
  ],
);

/**
 * Refused consents that were reported before their call, one for each connection of a person. The first
 * report of the call that names the person turns them into consents (calls.merge.ts).
 *
 * - `key_digest`, `other_digest`: keyed digests of the keys that the participant may have.
 * - `came`: false for a connection by which nobody came. It hides no recording, but it counts if the person comes by another one.
 * - `unclaimed_since`: null while there is such a call (see early_refusals.triggers.sql).
 */
export const earlyRefusals = sqliteTable(
  "early_refusals",
  {
    organization_id: organizationId(),
    call_key: text().notNull(),
    key_digest: text().notNull(),
    other_digest: text().notNull(),
    joined_at: integer().notNull(),
    came: integer({ mode: "boolean" }).notNull(),
    decided_at: integer().notNull(),
    said_at: integer(),
    method: text(),
    reported_at: integer().notNull(),
    unclaimed_since: integer(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.call_key, t.key_digest, t.joined_at] }),
    index("early_refusals_by_age")
      .on(t.organization_id, t.unclaimed_since)
      .where(sql`unclaimed_since is not null`),
  ],
);

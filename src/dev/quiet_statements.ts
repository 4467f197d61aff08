/*
 * What makes a restored database quiet, and what ends that: see src/database/quiet.ts. Both may be run again. They are plain
 * SQL: a backup carries the first, as its version of the schema wants it.
 */
import { RANGE } from "../database/shards.ts";

/**
 * How far each sequence leaps. Ids, cursors and `webhook-id`s that were given after the time of the copy do not come again,
 * unless there were more of them.
 */
export const SEQUENCE_LEAP = 10_000_000;

/** The same for the participants of a visit, who are at most 20 at a time. */
export const PARTICIPANT_LEAP = 10_000;

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Where the ids of a database begin: the first one has no range (see `shards` in src/database/schema.ts). */
const RANGE_START = `coalesce((SELECT value FROM database_settings WHERE name = 'range'), 0) * ${RANGE}`;

/**
 * Triggers refuse writes to the rows of an organization that is moving, or has moved away, where `moves` names it. No id is
 * negative: so these change all rows.
 */
const onAllRows = (statements: string[]) => {
  const negate = "UPDATE moves SET organization_id = -organization_id";
  return [negate, ...statements, negate];
};

/**
 * For a database with the rows of an earlier time. Mails and deliveries that were queued then may have been sent since. A
 * table without rows may have had some, so its sequence leaps too.
 */
export const QUIETING_STATEMENTS = onAllRows([
  `INSERT INTO database_settings (name, value) VALUES ('quiet', ${NOW}) ON CONFLICT (name) DO NOTHING`,
  // Before all that triggers write rows for: an event of these mails, too, has an id that was never given.
  `INSERT INTO sqlite_sequence (name, seq) SELECT name, ${RANGE_START} FROM sqlite_schema
    WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`,
  `UPDATE sqlite_sequence SET seq = seq + ${SEQUENCE_LEAP}`,
  `INSERT INTO sequences (name, value) VALUES ('transcript_lines', ${RANGE_START}) ON CONFLICT (name) DO NOTHING`,
  `UPDATE sequences SET value = value + ${SEQUENCE_LEAP}`,
  // Whose visits can still get participants: a link that was sent since must not become that of somebody else.
  `UPDATE visits SET last_participant_id = last_participant_id + ${PARTICIPANT_LEAP} WHERE status IN ('planned', 'started')`,
  // Before the deliveries are deleted: the events of these mails make some.
  "UPDATE invites SET mail_status = 'failed', next_mail_at = NULL WHERE next_mail_at IS NOT NULL",
  "DELETE FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL",
  "UPDATE webhook_endpoints SET due_at = NULL, lease_until = NULL, message_at = NULL",
  `UPDATE webhook_endpoints SET is_active = 0, disabled_reason = 'restored', updated_at = ${NOW} WHERE is_active`,
]);

/** What failed before the restore says nothing of an endpoint: without this, its first failure could disable it. */
export const RESUMING_STATEMENTS = onAllRows([
  `UPDATE webhook_endpoints SET is_active = 1, disabled_reason = NULL, failing_since = NULL, updated_at = ${NOW}
    WHERE disabled_reason = 'restored'`,
  "DELETE FROM database_settings WHERE name = 'quiet'",
]);

/** One row: whether the database is quiet, and how many endpoints become active again. */
export const QUIET_STATE = `SELECT EXISTS (SELECT 1 FROM database_settings WHERE name = 'quiet') AS is_quiet,
  (SELECT count(*) FROM webhook_endpoints WHERE disabled_reason = 'restored') AS endpoints`;

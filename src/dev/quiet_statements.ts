/*
 * Statements that make a restored database quiet, and statements that resume it: see src/database/quiet.ts. Both may be run
 * again. They are plain SQL because a backup file contains the quieting statements for its version of the schema.
 */
import { RANGE } from "../database/shards.ts";

/**
 * The distance by which each sequence leaps, so that ids, cursors and `webhook-id`s assigned after the copy was made are not
 * assigned again, unless there were more of them than this.
 */
export const SEQUENCE_LEAP = 10_000_000;

/** The leap of each visit's participant ids. A visit has at most 20 participants at a time. */
export const PARTICIPANT_LEAP = 10_000;

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The first id of the database's range. The first database has no range (see `shards` in src/directory/directory.table.ts). */
const RANGE_START = `coalesce((SELECT value FROM database_settings WHERE name = 'range'), 0) * ${RANGE}`;

/**
 * Triggers refuse writes to the rows of an organization that is in `moves`. While the ids in `moves` are negated, they match no
 * organization, so the statements can change all rows.
 */
const onAllRows = (statements: string[]) => {
  const negate = "UPDATE moves SET organization_id = -organization_id";
  return [negate, ...statements, negate];
};

/**
 * Makes a database quiet whose rows are from an earlier time. Its queued mails and deliveries may have been sent since then. A table
 * that is empty now may have had rows since then, so its sequence leaps too.
 */
export const QUIETING_STATEMENTS = onAllRows([
  `INSERT INTO database_settings (name, value) VALUES ('quiet', ${NOW}) ON CONFLICT (name) DO NOTHING`,
  // The leap precedes any statement whose triggers write rows: the events of the failed mails also need ids that were never assigned.
  `INSERT INTO sqlite_sequence (name, seq) SELECT name, ${RANGE_START} FROM sqlite_schema
    WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`,
  `UPDATE sqlite_sequence SET seq = seq + ${SEQUENCE_LEAP}`,
  `INSERT INTO sequences (name, value) VALUES ('transcript_lines', ${RANGE_START}) ON CONFLICT (name) DO NOTHING`,
  `UPDATE sequences SET value = value + ${SEQUENCE_LEAP}`,
  // For visits that can still get participants: a link that was sent since then must not become another participant's link.
  `UPDATE visits SET last_participant_id = last_participant_id + ${PARTICIPANT_LEAP} WHERE status IN ('planned', 'started')`,
  // The mails fail before the deliveries are deleted, because the events of these mails create deliveries.
  "UPDATE invites SET mail_status = 'failed', next_mail_at = NULL WHERE next_mail_at IS NOT NULL",
  "DELETE FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL",
  "UPDATE webhook_endpoints SET due_at = NULL, lease_until = NULL, message_at = NULL",
  `UPDATE webhook_endpoints SET is_active = 0, disabled_reason = 'restored', updated_at = ${NOW} WHERE is_active`,
]);

/** Clears `failing_since`: with a value from before the restore, an endpoint's first failure could disable it. */
export const RESUMING_STATEMENTS = onAllRows([
  `UPDATE webhook_endpoints SET is_active = 1, disabled_reason = NULL, failing_since = NULL, updated_at = ${NOW}
    WHERE disabled_reason = 'restored'`,
  "DELETE FROM database_settings WHERE name = 'quiet'",
]);

export const IS_QUIET = "SELECT 1 FROM database_settings WHERE name = 'quiet'";

/** One row: whether the database is quiet, and how many endpoints become active again when it resumes. */
export const QUIET_STATE = `SELECT EXISTS (SELECT 1 FROM database_settings WHERE name = 'quiet') AS is_quiet,
  (SELECT count(*) FROM webhook_endpoints WHERE disabled_reason = 'restored') AS endpoints`;

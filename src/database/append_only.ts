/**
 * Rows that are evidence, and the statements that triggers refuse on them. REPLACE is INSERT OR REPLACE, which fires no DELETE
 * trigger. The triggers are generated: run `npm run db:baseline` after a change (after the first deployment: `npm run
 * db:generate`).
 */
export const APPEND_ONLY: AppendOnly[] = [
  { table: "access_logs", rows: "entries of the access log", refused: ["UPDATE", "REPLACE"] },
  { table: "access_log_seals", rows: "seals", refused: ["UPDATE", "DELETE"] },
  {
    table: "consents",
    rows: "consents",
    refused: ["UPDATE", "DELETE", "REPLACE"],
    replaced:
      "id = new.id OR (participant_id = new.participant_id AND reporter = new.reporter AND decision = new.decision AND case when said_at is null then decided_at else said_at end = coalesce(new.said_at, new.decided_at))",
  },
  { table: "egress_audit_logs", rows: "audit entries", refused: ["UPDATE", "DELETE", "REPLACE"] },
  // Clients page through events by id, so an event that they have read must not change.
  { table: "events", rows: "events", refused: ["UPDATE"] },
  {
    table: "legal_holds",
    rows: "legal holds",
    refused: ["DELETE", "REPLACE"],
    replaced: "id = new.id OR (call_id = new.call_id AND ended_at IS NULL)",
  },
];

export interface AppendOnly {
  table: string;
  /** The name of the rows in error messages. */
  rows: string;
  refused: ("UPDATE" | "DELETE" | "REPLACE")[];
  /** The rows that a new row would replace. Default: the row with the same id. */
  replaced?: string;
}

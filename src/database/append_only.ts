/**
 * Tables whose rows are evidence, and what triggers refuse, whatever code tries it. REPLACE is INSERT OR REPLACE, which deletes
 * the old row without firing a DELETE trigger. The triggers are made of this list: run `npm run db:baseline` after a change
 * (once deployed: `npm run db:generate`).
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
  // Clients page by id, and what they have read must stay true.
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
  /** What the rows are called in the errors. */
  rows: string;
  refused: ("UPDATE" | "DELETE" | "REPLACE")[];
  /** Which rows a new one would replace, where that is not only the row of its id. */
  replaced?: string;
}

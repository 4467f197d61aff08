import type { egresses } from "../egresses/egresses.table.ts";

/**
 * The fields of an egress whose changes its audit log shows, and the kind of value in each column. Times are milliseconds,
 * booleans are 0 or 1. The triggers on egresses are generated from this list (dev/generated_triggers.ts): run
 * `npm run db:baseline` after a change (after the first deployment: `npm run db:generate`). The storage key must never
 * appear in the log, so the type excludes it.
 */
export const AUDITED_FIELDS = {
  egress_id: "text",
  status: "text",
  error: "text",
  is_stopped: "boolean",
  ended_at: "time",
} as const satisfies Partial<Record<Exclude<keyof typeof egresses.$inferSelect, "storage_key">, AuditedKind>>;

type AuditedKind = "text" | "boolean" | "time";

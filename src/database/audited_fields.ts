import type { egresses } from "./schema.ts";

/**
 * The fields of an egress whose changes its audit log shows, each with the kind of value that its column stores: a
 * time in milliseconds, a boolean as 0 or 1. The triggers on egresses are made of this list
 * (dev/audit_triggers.ts): run `npm run db:baseline` after a change (once deployed: `npm run db:triggers`). The storage key
 * must not get into the log.
 */
export const AUDITED_FIELDS = {
  egress_id: "text",
  status: "text",
  error: "text",
  is_stopped: "boolean",
  ended_at: "time",
} as const satisfies Partial<Record<Exclude<keyof typeof egresses.$inferSelect, "storage_key">, AuditedKind>>;

type AuditedKind = "text" | "boolean" | "time";

/** The kind of a field in an audit entry; undefined for a field that is no longer audited. */
export const auditedKind = (field: string): AuditedKind | undefined =>
  Object.entries(AUDITED_FIELDS).find(([name]) => name === field)?.[1];

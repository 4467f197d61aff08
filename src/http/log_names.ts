/*
 * The names of all log lines. src/docs/monitoring.md explains each name to operators, and a test compares its table with these
 * lists. A name is a noun and what happened to it. The lists are only used for their types, so they are not in the bundle.
 */

export const EVENTS = [
  "request",
  "cron",
  "fault",
  "refused",
  "database_quiet",
  "organization_frozen",
  "backup_late",
  "message_unknown",
  "file_deletion_failed",
  "access_log_not_sealed",
  "access_log_file_in_the_way",
  "webhook_endpoint_disabled",
  "invite_mail_deferred",
  "invite_mail_failed",
  "invite_mail_unanswered",
  "livekit_event_not_used",
  "livekit_fields_not_used",
  "livekit_consent_unclear",
  "livekit_file_not_used",
  "livekit_unavailable",
  "egress_recovered",
  "egress_stopped",
  "egress_unknown_to_livekit",
] as const;

/** Every `fault` has one of these fields. */
export const FAULT_PLACES = [
  "request_id",
  "message_id",
  "chore",
  "organization_id",
  "bulk_invite_id",
  "webhook_endpoint_id",
  "queue",
] as const;

export const REFUSAL_REASONS = {
  token: [
    "malformed",
    "issuer_missing",
    "issuer_unknown",
    "algorithm_not_allowed",
    "key_unknown",
    "key_unusable",
    "signature_invalid",
    "audience_wrong",
    "expired",
    "not_yet_valid",
    "claim_missing",
    "claim_malformed",
    "email_missing",
    "email_not_verified",
    "user_unknown",
    "invite_pending",
  ],
  keys: ["keys_unreachable", "keys_timeout", "keys_not_ok", "keys_too_large", "keys_malformed"],
  health: [
    "settings_at_fault",
    "migrations_missing",
    "range_missing",
    "database_unreachable",
    "wrong_database",
    "binding_missing",
  ],
  write: ["write_conflict"],
  body: ["too_many_bodies"],
  database: ["database_unavailable"],
  move: ["organization_moves"],
  bucket: ["file_unavailable"],
  recording: ["file_not_deleted", "database_quiet"],
  rate: [
    "client_limit",
    "organization_limit",
    "bulk_invite_limit",
    "redelivery_limit",
    "access_log_limit",
    "address_limit",
  ],
} as const;

export type LogEvent = (typeof EVENTS)[number];

export type FaultPlace = (typeof FAULT_PLACES)[number];

type Subject = keyof typeof REFUSAL_REASONS;

export type RefusalReason<Of extends Subject = Subject> = (typeof REFUSAL_REASONS)[Of][number];

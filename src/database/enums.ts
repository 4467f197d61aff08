/** Values that columns and the wire share. The contract names the roles and the audit events. */

/** Role names (contract, section "Invite"), lowest permission level first. */
export const ROLES = ["provider_assistant", "provider", "organization_admin"] as const;

export type Role = (typeof ROLES)[number];

export const PARTICIPANT_ROLES = ["recipient", "provider"] as const;

export type ParticipantRole = (typeof PARTICIPANT_ROLES)[number];

/** What a participant can decide on being recorded. */
export const CONSENT_DECISIONS = ["granted", "refused"] as const;

export type ConsentDecision = (typeof CONSENT_DECISIONS)[number];

/** Who reports such decisions. */
export type ConsentReporter = "platform" | "livekit";

/** Who said whether a call has a reference: what the organization says of it stays, whatever reports say. */
export type ReferenceSource = "report" | "organization";

/** What says when a call ended: a report, or the cron, which assumes it after a long silence. */
export const ENDED_BY = ["reported", "assumed"] as const;

export type EndedBy = (typeof ENDED_BY)[number];

/** Who began a legal hold. Only the platform ends its own. */
export const HOLD_BEGINNERS = ["platform", "organization"] as const;

export type HoldBeginner = (typeof HOLD_BEGINNERS)[number];

/** What has become of a planned visit. */
export const VISIT_STATUSES = ["planned", "started", "ended", "missed", "cancelled"] as const;

export type VisitStatus = (typeof VISIT_STATUSES)[number];

/** How far a text that a call leaves behind is. */
export const RESULT_STATES = ["none", "pending", "ready"] as const;

export type ResultState = (typeof RESULT_STATES)[number];

/** What reports may say of an egress, in the order in which it happens. The set of all statuses is open. */
export const EGRESS_STATUSES = ["egress_starting", "egress_active", "egress_ending", "egress_ended"] as const;

/** The status of an egress whose file was deleted. No report can say so, or change it. Triggers and indexes name it too. */
export const EGRESS_DELETED = "egress_deleted";

/** Kinds of audit entries (contract, section "Egress audit log entry"). */
export const AUDIT_EVENTS = ["create", "update", "read"] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

/** The texts that a call has, at most one of each. */
export type CallTextKind = "transcript" | "soap_note";

/** What the access log records: that something was read, looked for, made, changed or removed. */
export const ACCESS_EVENTS = ["read", "search", "create", "update", "delete"] as const;

export type AccessEvent = (typeof ACCESS_EVENTS)[number];

/** Of what the access log has entries. */
export const ACCESS_RESOURCES = [
  "transcript",
  "soap_note",
  "egress",
  "participant",
  "consent",
  "call",
  "legal_hold",
  "access_log",
  "organization",
  "organization_user",
  "api_client",
  "issuer",
  "invite",
  "webhook_endpoint",
  "waiting_room",
  "visit",
] as const;

export type AccessResource = (typeof ACCESS_RESOURCES)[number];

/** Why somebody asks: codes of HL7 v3, value set PurposeOfUse. */
export const PURPOSES_OF_USE = [
  "TREAT",
  "HOPERAT",
  "HPAYMT",
  "ETREAT",
  "PATRQT",
  "PUBHLTH",
  "HRESCH",
  "BTG",
] as const;

export type PurposeOfUse = (typeof PURPOSES_OF_USE)[number];

/** What became of the mail of an invite: see invites.responses.ts. */
export const MAIL_STATUSES = ["off", "queued", "sent", "failed"] as const;

export type MailStatus = (typeof MAIL_STATUSES)[number];

/** Why the service has stopped sending to a webhook endpoint: see webhook_endpoints.responses.ts. */
export const DISABLED_REASONS = ["gone", "failing", "creator_removed", "restored"] as const;

export type DisabledReason = (typeof DISABLED_REASONS)[number];

export type BulkInviteRowStatus = "pending" | "created" | "failed";

/** What can happen in an organization. Triggers write the events: see triggers/events.sql. */
export const EVENT_TYPES = [
  "call.started",
  "call.updated",
  "call.ended",
  "participant.waiting",
  "participant.joined",
  "participant.left",
  "transcript.finalized",
  "transcript.corrected",
  "transcript.deleted",
  "soap_note.finalized",
  "soap_note.corrected",
  "soap_note.deleted",
  "egress.started",
  "egress.ended",
  "egress.deleted",
  "consent.withdrawn",
  "invite.created",
  "invite.accepted",
  "invite.mail_failed",
  "bulk_invite.completed",
  "organization_user.added",
  "organization_user.removed",
  "waiting_room_sub.changed",
  "access_log.sealed",
  "visit.created",
  "visit.updated",
  "visit.started",
  "visit.ended",
  "visit.missed",
  "visit.cancelled",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

type FamilyOf<Type> = Type extends `${infer Family}.${string}` ? `${Family}.*` : never;

/** All types of one kind of thing, also those that there will be: `call.*`. */
export type EventFamily = FamilyOf<EventType>;

/** What clients can ask for: a type, or a family. */
export type EventTypeName = EventType | EventFamily;

const familyOf = (type: EventType) => type.replace(/\..*/, ".*") as EventFamily;

export const EVENT_TYPE_NAMES: readonly EventTypeName[] = [
  ...EVENT_TYPES,
  ...new Set(EVENT_TYPES.map(familyOf)),
];

/** The types that these names stand for. The trigger of deliveries knows this too: see triggers/webhook_deliveries.sql. */
export const eventTypesOf = (names: readonly EventTypeName[]): EventType[] =>
  EVENT_TYPES.filter((type) => names.includes(type) || names.includes(familyOf(type)));

/** Role names (contract, section "Invite"), lowest permission level first. */
export const ROLES = ["provider_assistant", "provider", "organization_admin"] as const;

export type Role = (typeof ROLES)[number];

/** The parts of the external API to which a client can be limited. Reading means GET and HEAD; writing includes reading. */
export const SCOPES = [
  "rooms:read",
  "rooms:write",
  "visits:read",
  "visits:write",
  "calls:read",
  "calls:write",
  "results:read",
  "results:write",
  "members:read",
  "members:write",
  "sign_in",
  "events:read",
  "events:write",
  "audit:read",
  "organization:read",
  "organization:write",
] as const;

export type Scope = (typeof SCOPES)[number];

export const PARTICIPANT_ROLES = ["recipient", "provider"] as const;

export type ParticipantRole = (typeof PARTICIPANT_ROLES)[number];

export const CONSENT_DECISIONS = ["granted", "refused"] as const;

export type ConsentDecision = (typeof CONSENT_DECISIONS)[number];

/** An observer of calls, such as a media server, reports what it sees: its reports only fill gaps. */
export type Reporter = "platform" | "observer";

/** The source of a call's reference, or of the statement that it has none. Reports never override the organization. */
export type ReferenceSource = "report" | "organization";

/** A call's end was either reported, or assumed by the cron after a long time without reports. */
export const ENDED_BY = ["reported", "assumed"] as const;

export type EndedBy = (typeof ENDED_BY)[number];

/** The side that began a legal hold. Only the platform can end the holds that it began. */
export const HOLD_BEGINNERS = ["platform", "organization"] as const;

export type HoldBeginner = (typeof HOLD_BEGINNERS)[number];

export const VISIT_STATUSES = ["planned", "started", "ended", "missed", "cancelled"] as const;

export type VisitStatus = (typeof VISIT_STATUSES)[number];

export const RESULT_STATES = ["none", "pending", "ready"] as const;

export type ResultState = (typeof RESULT_STATES)[number];

/** The known statuses of an egress, in the order in which it passes through them. Reports may also contain others. */
export const EGRESS_STATUSES = ["egress_starting", "egress_active", "egress_ending", "egress_ended"] as const;

/** The status of an egress whose file was deleted. Reports can neither set nor change it. Triggers and indexes contain it too. */
export const EGRESS_DELETED = "egress_deleted";

/** Contract, section "Egress audit log entry". */
export const AUDIT_EVENTS = ["create", "update", "read"] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export type CallTextKind = "transcript" | "soap_note";

export const ACCESS_EVENTS = [
  "read",
  "search",
  "create",
  "update",
  "delete",
  "sign_in",
  "sign_in_refused",
] as const;

export type AccessEvent = (typeof ACCESS_EVENTS)[number];

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

/** The quota of a request, towards which its access log entries count: see usage.quotas.ts. */
export const QUOTAS = { none: 0, ordinary: 1, reserved: 2 } as const;

export type Quota = (typeof QUOTAS)[keyof typeof QUOTAS];

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

export const MAIL_STATUSES = ["off", "queued", "sent", "failed"] as const;

export type MailStatus = (typeof MAIL_STATUSES)[number];

export const DISABLED_REASONS = ["gone", "failing", "creator_removed", "restored"] as const;

export type DisabledReason = (typeof DISABLED_REASONS)[number];

export type BulkInviteRowStatus = "pending" | "created" | "failed";

/** Triggers write the events: see events.table.ts. */
export const EVENT_TYPES = [
  "call.started",
  "call.updated",
  "call.ended",
  "call.results_ready",
  "participant.waiting",
  "participant.joined",
  "participant.left",
  "participant.updated",
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
  "organization_user.updated",
  "organization.updated",
  "api_client.created",
  "api_client.revoked",
  "waiting_room.created",
  "waiting_room.updated",
  "waiting_room.retired",
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

/** A family includes all types with the same beginning, even future ones: `call.*`. */
type EventFamily = FamilyOf<EventType>;

export type EventTypeName = EventType | EventFamily;

const familyOf = (type: EventType) => type.replace(/\..*/, ".*") as EventFamily;

export const EVENT_TYPE_NAMES: readonly EventTypeName[] = [
  ...EVENT_TYPES,
  ...new Set(EVENT_TYPES.map(familyOf)),
];

/** The types that these names include. webhook_deliveries.triggers.sql applies the same rule. */
export const eventTypesOf = (names: readonly EventTypeName[]): EventType[] =>
  EVENT_TYPES.filter((type) => names.includes(type) || names.includes(familyOf(type)));

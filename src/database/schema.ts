import { sql } from "drizzle-orm";
import {
  blob,
  check,
  foreignKey,
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type {
  AccessEvent,
  AccessResource,
  AuditEvent,
  BulkInviteRowStatus,
  CallTextKind,
  ConsentDecision,
  ConsentReporter,
  DisabledReason,
  EventType,
  EventTypeName,
  HoldBeginner,
  MailStatus,
  ParticipantRole,
  PurposeOfUse,
  ReferenceSource,
  Role,
  VisitStatus,
} from "./enums.ts";

/*
 * Times are integer milliseconds since the epoch. Every tenant-owned table carries its organization's id, and
 * refers to its neighbours by (organization_id, id), so that no row can point into another organization.
 * What a table declaration cannot say is in the triggers: see the files in triggers/.
 */

const idColumn = () => integer().primaryKey({ autoIncrement: true });
const timestamps = { created_at: integer().notNull(), updated_at: integer().notNull() };
/** The id of a row that this one belongs to. */
const parentId = (column: () => SQLiteColumn) => integer().notNull().references(column);
const organizationId = () => parentId(() => organizations.id);

type OfOrganization = Record<"organization_id", SQLiteColumn>;

/** That a column has the id of a row of the same organization. */
const withinOrganization = (
  { organization_id }: OfOrganization,
  column: SQLiteColumn,
  neighbour: OfOrganization & Record<"id", SQLiteColumn>,
) =>
  foreignKey({
    columns: [organization_id, column],
    foreignColumns: [neighbour.organization_id, neighbour.id],
  });

/** The digits with which a slug ends. */
const finalDigits = sql`substr(slug, length(rtrim(slug, '0123456789')) + 1)`;

/**
 * Computed from a slug, for an index of both, which leads to the highest number of a stem. `cardiology-3` has the number 3
 * and the stem `cardiology`. Without a number from 2 to 999999 at its end, a slug is its own stem, and its number is 1.
 */
const slugParts = () => ({
  slug_number: integer()
    .notNull()
    .generatedAlwaysAs(
      sql`iif(rtrim(slug, '0123456789') glob '*-' and ${finalDigits} glob '[1-9]*' and length(${finalDigits}) < 7,
        cast(${finalDigits} as integer), 1)`,
    ),
  slug_stem: text()
    .notNull()
    .generatedAlwaysAs(
      sql`iif(slug_number = 1, slug, substr(slug, 1, length(slug) - length(slug_number) - 1))`,
    ),
});

/**
 * Recordings and transcripts are deleted, and the names of participants erased, so many days after their call or visit has
 * ended; null keeps them for good. `require_acting_user`: its clients must say for whom they read what the access log records.
 * Id and slug are those of the organization's row in `places`.
 */
export const organizations = sqliteTable(
  "organizations",
  {
    id: integer().primaryKey(),
    name: text().notNull(),
    /** The name that mails show, from the last name that the platform set. Empty: mails show none. */
    mail_name: text().notNull().default(""),
    slug: text().notNull().unique(),
    recording_retention_days: integer(),
    transcript_retention_days: integer(),
    participant_retention_days: integer(),
    require_acting_user: integer({ mode: "boolean" }).notNull().default(false),
    ...timestamps,
  },
  (t) => [
    // For the cron.
    index("organizations_deleting_recordings")
      .on(t.recording_retention_days)
      .where(sql`recording_retention_days is not null`),
    index("organizations_deleting_transcripts")
      .on(t.transcript_retention_days)
      .where(sql`transcript_retention_days is not null`),
    index("organizations_erasing_participants")
      .on(t.participant_retention_days)
      .where(sql`participant_retention_days is not null`),
  ],
);

/**
 * What the retention of a result depends on: the end of its call, and whether the call is under legal hold. Triggers
 * copy both from the call (see triggers/retention.sql), so that an index finds what is to be deleted: it never leads
 * to calls that have nothing left, or that are on hold, however many there are.
 */
const retention = {
  call_ended_at: integer(),
  is_held: integer({ mode: "boolean" }).notNull().default(false),
};

/**
 * The service's own user, whom audit logs name where nobody else caused a change. No organization user has this id, in no
 * database: the baseline begins with the next one.
 */
export const SYSTEM_USER_ID = 1;

/**
 * A person's account in an organization: its id is the contract's `user_id` too. Somebody who works for two organizations has
 * two accounts, and neither organization learns of the other one. `roles` is a JSON array, lowest role first. A membership that
 * has ended keeps its row, without roles.
 */
export const organizationUsers = sqliteTable(
  "organization_users",
  {
    id: idColumn(),
    organization_id: organizationId(),
    email: text().notNull(),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("organization_users_by_email").on(t.organization_id, t.email),
    uniqueIndex("organization_users_by_organization").on(t.organization_id, t.id),
    check("organization_users_are_people", sql`id <> ${sql.raw(String(SYSTEM_USER_ID))}`),
  ],
);

/** The providers whose calls a provider_assistant can read besides its own. */
export const organizationUserAssists = sqliteTable(
  "organization_user_assists",
  { organization_id: organizationId(), assistant_id: integer().notNull(), provider_id: integer().notNull() },
  (t) => [
    primaryKey({ columns: [t.assistant_id, t.provider_id] }),
    withinOrganization(t, t.assistant_id, organizationUsers),
    withinOrganization(t, t.provider_id, organizationUsers),
  ],
);

/** `secret_digest` is the SHA-256 of the secret in hex. The secret itself is not stored. */
export const apiClients = sqliteTable(
  "api_clients",
  {
    id: idColumn(),
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    name: text().notNull(),
    client_id: text().notNull().unique(),
    secret_digest: text().notNull(),
    revoked_at: integer(),
    ...timestamps,
  },
  (t) => [
    // For the end of a membership, and the quota.
    index("api_clients_in_use").on(t.organization_id, t.revoked_at, t.organization_user_id),
    withinOrganization(t, t.organization_user_id, organizationUsers),
    index("api_clients_listed").on(t.organization_id, t.id),
  ],
);

/**
 * The `Idempotency-Key` of each creation, kept for a day. `fingerprint` is the digest of the request, and `result` the row
 * that was made, as JSON: null where the response has a secret (see idempotency_keys.sql.ts).
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    organization_id: organizationId(),
    api_client_id: parentId(() => apiClients.id),
    key: text().notNull(),
    fingerprint: text().notNull(),
    result: text(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.api_client_id, t.key] }),
    index("idempotency_keys_by_age").on(t.organization_id, t.created_at),
  ],
);

/** `user_id` is the owner of a personal room, and null for an organization's room. A retired room keeps its row. */
export const waitingRooms = sqliteTable(
  "waiting_rooms",
  {
    id: idColumn(),
    organization_id: organizationId(),
    user_id: integer(),
    name: text().notNull(),
    slug: text().notNull(),
    theme: text().notNull(),
    is_active: integer({ mode: "boolean" }).notNull(),
    retired_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("waiting_rooms_by_slug").on(t.slug).where(sql`retired_at is null`),
    uniqueIndex("waiting_rooms_by_owner").on(t.organization_id, t.user_id).where(sql`user_id is not null`),
    uniqueIndex("waiting_rooms_by_organization").on(t.organization_id, t.id),
    index("waiting_rooms_listed").on(t.organization_id, t.id).where(sql`retired_at is null`),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/**
 * Every slug that a room ever had, and the room. So a slug is never given again, to another room or to the same. Triggers
 * keep it (see triggers/waiting_room_slugs.sql): nothing else writes here.
 */
export const waitingRoomSlugs = sqliteTable(
  "waiting_room_slugs",
  {
    slug: text().primaryKey(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    ...slugParts(),
  },
  (t) => [
    index("waiting_room_slugs_by_stem").on(t.slug_stem, t.slug_number),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
  ],
);

/** The subs of a room never overlap, so to order them by end is to order them by start. */
export const waitingRoomSubs = sqliteTable(
  "waiting_room_subs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    user_id: integer(),
    datetime_start: integer().notNull(),
    datetime_end: integer().notNull(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("waiting_room_subs_by_end").on(t.waiting_room_id, t.datetime_end),
    // For a user who loses the personal room.
    index("waiting_room_subs_held").on(t.organization_id, t.user_id).where(sql`user_id is not null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/** Somebody who is to take part in a visit, and has a link. Ids are 1, 2, …, and that of somebody removed is not given again. */
interface VisitParticipant {
  id: number;
  role: ParticipantRole;
  display_name: string;
  /** Of a user with an account in the organization. */
  user_id: number | null;
  external_reference: string | null;
}

/**
 * Visits that an organization plans. `organization_user_id` is whose visit it is: null for one that is everybody's, in an
 * organization's room. `calls_ended_at` is the end of its last call, null without a call and while one goes on: triggers keep it
 * (see triggers/retention.sql). `over_at` is the time from which retention counts, null until then: the earliest of its
 * cancellation, the end of its last call, and `ends_at`. `erased_at` once the names and references are erased. What each status becomes is in visits.merge.ts.
 */
export const visits = sqliteTable(
  "visits",
  {
    id: idColumn(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    organization_user_id: integer(),
    external_reference: text(),
    status: text().$type<VisitStatus>().notNull(),
    starts_at: integer().notNull(),
    ends_at: integer().notNull(),
    participants: text({ mode: "json" }).$type<VisitParticipant[]>().notNull(),
    last_participant_id: integer().notNull(),
    cancelled_at: integer(),
    calls_ended_at: integer(),
    over_at: integer().generatedAlwaysAs(
      sql`case status when 'planned' then null when 'cancelled' then min(cancelled_at, ends_at)
        when 'started' then min(calls_ended_at, ends_at)
        when 'ended' then min(coalesce(calls_ended_at, ends_at), ends_at) else ends_at end`,
    ),
    erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("visits_by_organization").on(t.organization_id, t.id),
    // For the list, by each of its filters.
    index("visits_by_start").on(t.organization_id, t.starts_at, t.id),
    index("visits_by_status").on(t.organization_id, t.status, t.starts_at, t.id),
    index("visits_of_holder").on(t.organization_id, t.organization_user_id, t.starts_at, t.id),
    index("visits_of_holder_by_status").on(
      t.organization_id,
      t.organization_user_id,
      t.status,
      t.starts_at,
      t.id,
    ),
    index("visits_by_reference")
      .on(t.organization_id, t.external_reference, t.starts_at, t.id)
      .where(sql`external_reference is not null`),
    // For the cron.
    index("visits_open").on(t.organization_id, t.ends_at).where(sql`status in ('planned', 'started')`),
    index("visits_to_erase")
      .on(t.organization_id, t.over_at)
      .where(sql`over_at is not null and erased_at is null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.organization_user_id, organizationUsers),
  ],
);

/**
 * Keyed digests of the references of those whom a visit names, or named: they stay when names are erased and participants
 * removed, so that the access log still leads to the visit.
 */
export const visitReferences = sqliteTable(
  "visit_references",
  { organization_id: organizationId(), reference_digest: text().notNull(), visit_id: integer().notNull() },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.reference_digest, t.visit_id] }),
    withinOrganization(t, t.visit_id, visits),
  ],
);

/**
 * How many visits that start on a date have which status now, for each holder, and as WHOLE_ORGANIZATION for all. Triggers on
 * visits keep it (see triggers/visit_daily_metrics.sql): nothing else writes here.
 */
export const visitDailyMetrics = sqliteTable(
  "visit_daily_metrics",
  {
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    /** The UTC date on which the visits start, as `YYYY-MM-DD`; empty for all dates of the whole organization. */
    date: text().notNull(),
    planned: integer().notNull(),
    /** Those that have started. */
    held: integer().notNull(),
    missed: integer().notNull(),
    cancelled: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.organization_user_id, t.date] })],
);

/**
 * `end_is_assumed` if no report said when the call ended, and the cron put it at the latest time known of it.
 * `visit_id` is the planned visit of the first participant who came with a link of one.
 * `external_reference` is the text by which another system knows the visit. `livekit_said` is JSON with LiveKit's last word on
 * it, and when it was said; null if it said nothing. `reference_said_by` is null where nobody has said whether there is a
 * reference, and `failed` where no report has said that. `reported_at` is when the platform's newest report was made, and 0 where
 * only LiveKit has reported: the same for participants, transcripts and SOAP notes (see http/reports.ts).
 * `transcript_deleted_at`, `soap_note_deleted_at` and `reference_erased_at` are tombstones: what was deleted does not come back
 * by a report. Triggers set them (see triggers/tombstones.sql).
 */
export const calls = sqliteTable(
  "calls",
  {
    id: idColumn(),
    organization_id: organizationId(),
    key: text().notNull(),
    organization_user_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    visit_id: integer(),
    started_at: integer().notNull(),
    ended_at: integer(),
    end_is_assumed: integer({ mode: "boolean" }).notNull().default(false),
    failed: integer({ mode: "boolean" }),
    external_reference: text(),
    reference_said_by: text().$type<ReferenceSource>(),
    livekit_said: text(),
    reported_at: integer().notNull().default(0),
    transcript_deleted_at: integer(),
    soap_note_deleted_at: integer(),
    reference_erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("calls_by_organization").on(t.organization_id, t.id),
    uniqueIndex("calls_by_key").on(t.organization_id, t.key),
    index("calls_newest").on(t.organization_user_id, t.started_at, t.id),
    index("calls_newest_of_organization").on(t.organization_id, t.started_at, t.id),
    index("calls_by_reference")
      .on(t.organization_id, t.external_reference, t.started_at, t.id)
      .where(sql`external_reference is not null`),
    // For the cron: those with something to erase.
    index("calls_with_reference")
      .on(t.organization_id, t.ended_at)
      .where(sql`external_reference is not null or livekit_said is not null`),
    index("calls_ongoing").on(t.waiting_room_id).where(sql`ended_at is null`),
    // For the cron: those of which nothing was heard for long.
    index("calls_unended").on(t.organization_id, t.updated_at).where(sql`ended_at is null`),
    withinOrganization(t, t.organization_user_id, organizationUsers),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.visit_id, visits),
  ],
);

/**
 * The legal holds of calls: while one is running, no result of its call is deleted; a draft can still be reported anew.
 * Holds are kept when they have ended, and triggers refuse any change but that of the reason, of the end, and of who
 * began it to the platform (see triggers/legal_holds.sql).
 */
export const legalHolds = sqliteTable(
  "legal_holds",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer().notNull(),
    begun_by: text().$type<HoldBeginner>().notNull(),
    reason: text(),
    began_at: integer().notNull(),
    ended_at: integer(),
  },
  (t) => [
    uniqueIndex("legal_holds_running").on(t.call_id).where(sql`ended_at is null`),
    index("legal_holds_ended").on(t.call_id, t.ended_at).where(sql`ended_at is not null`),
    withinOrganization(t, t.call_id, calls),
  ],
);

/**
 * A person in a waiting room, then on a call. `call_started_at` is a copy of the call's `started_at`: triggers keep it (see
 * triggers/call_starts.sql). `visit_id` is the planned visit by whose link the person first came.
 * `recording_consent` is the decision that counts of those in `consents`, null if the person was not asked: triggers keep it (see triggers/recording_consents.sql), and nothing else changes
 * it. `left_is_assumed` if no report said that the person left: the cron has ended the wait, or the call.
 * `earlier_stay_until` is the latest time of a stay before this one, null if no such stay is known. It shows whether
 * a late report belongs to that stay, or corrects this one. `waiting_event_at`, `joined_event_at` and `left_event_at`
 * are the times with which the events of the known stay were written, with later corrections, null without an event;
 * `earlier_left_event_at` is the `left_event_at` of the stay before (see participants.stays.ts). `joined_by_name_at`
 * is the earliest time of joining of somebody whom LiveKit alone brought to the call, by the name of a room, which may
 * be used again: if the call turns out to have ended before it, it was another one
 * (`isOfLaterCall` in participants.sql.ts). `livekit_said` is JSON with
 * LiveKit's last word on each field, and when it was said; null if it said nothing. Only what differs from it counts
 * (livekit/room_events.merge.ts). It holds the name and the reference too. `cleared` names the fields that a report has
 * cleared, with commas between them: what is null otherwise is not known. `external_reference` is the text by which
 * another system knows the person. Once erased, `display_name` says nothing, `key` is a keyed digest of the reporter's
 * key (`namedKeys` in participants.sql.ts), and `reference_digest` one of the reference: the access log still leads to
 * the person.
 */
export const participants = sqliteTable(
  "participants",
  {
    id: idColumn(),
    organization_id: organizationId(),
    key: text().notNull(),
    waiting_room_id: integer().notNull(),
    call_id: integer(),
    call_started_at: integer(),
    visit_id: integer(),
    user_id: integer(),
    display_name: text().notNull(),
    role: text().$type<ParticipantRole>().notNull(),
    external_reference: text(),
    reference_digest: text(),
    waiting_since: integer(),
    joined_at: integer(),
    left_at: integer(),
    left_is_assumed: integer({ mode: "boolean" }).notNull().default(false),
    recording_consent: integer({ mode: "boolean" }),
    earlier_stay_until: integer(),
    waiting_event_at: integer(),
    joined_event_at: integer(),
    left_event_at: integer(),
    earlier_left_event_at: integer(),
    joined_by_name_at: integer(),
    livekit_said: text(),
    cleared: text(),
    reported_at: integer().notNull().default(0),
    erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("participants_by_key").on(t.organization_id, t.key).where(sql`erased_at is null`),
    // Who comes again under a key after an erasure is somebody new, who may be erased too.
    index("participants_erased").on(t.organization_id, t.key).where(sql`erased_at is not null`),
    index("participants_to_erase")
      .on(t.organization_id, t.left_at)
      .where(sql`erased_at is null and left_at is not null`),
    uniqueIndex("participants_by_organization").on(t.organization_id, t.id),
    index("participants_on_call").on(t.call_id).where(sql`call_id is not null`),
    index("participants_of_visit").on(t.visit_id, t.call_id).where(sql`visit_id is not null`),
    // For the list of calls.
    index("participants_by_reference")
      .on(t.organization_id, t.external_reference, t.call_started_at, t.call_id)
      .where(sql`external_reference is not null`),
    index("participants_by_erased_reference")
      .on(t.organization_id, t.reference_digest, t.call_id)
      .where(sql`reference_digest is not null`),
    // Those of a room who wait, by how long they have.
    index("participants_present")
      .on(t.waiting_room_id, t.call_id, t.waiting_since, t.id)
      .where(sql`left_at is null`),
    // For the cron: those of whose wait nothing was heard for long.
    index("participants_waiting")
      .on(t.organization_id, t.updated_at)
      .where(sql`left_at is null and call_id is null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.call_id, calls),
    withinOrganization(t, t.visit_id, visits),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/**
 * What participants decided on being recorded, as it was reported: a ledger, whose rows are never changed or deleted (see
 * append_only.ts). `said_at` is when it was decided as the report says, null where it does not. What is in the future counts
 * as now: so `decided_at` may be earlier, and a repetition is recognized by `said_at`. `method` is how the participant said so. What a report means is in consents.merge.ts.
 */
export const consents = sqliteTable(
  "consents",
  {
    id: idColumn(),
    organization_id: organizationId(),
    participant_id: integer().notNull(),
    reporter: text().$type<ConsentReporter>().notNull(),
    decision: text().$type<ConsentDecision>().notNull(),
    decided_at: integer().notNull(),
    said_at: integer(),
    method: text(),
    reported_at: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    // A partial index would not serve the queries for a participant's decisions. (drizzle-kit takes no comma in an expression.)
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
 * Counts and sums over the calls of a date, for each organization user, and as WHOLE_ORGANIZATION for all of them.
 * Triggers on calls and participants keep it (see triggers/call_daily_metrics.sql): nothing else writes here.
 */
export const callDailyMetrics = sqliteTable(
  "call_daily_metrics",
  {
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    /** The UTC date on which the calls started, as `YYYY-MM-DD`. */
    date: text().notNull(),
    total_calls: integer().notNull(),
    failed_calls: integer().notNull(),
    /** Calls whose end was reported, failed ones too, and the sum of their durations. */
    ended_calls: integer().notNull(),
    duration_ms: integer().notNull(),
    /** Recipients who waited, and the sum of their waits. */
    waits: integer().notNull(),
    wait_ms: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.organization_user_id, t.date] })],
);

/** The organization_user_id in metrics of a whole organization. No organization user has this id. */
export const WHOLE_ORGANIZATION = 0;

/**
 * The texts of calls: at most one transcript and one SOAP note each. Of a note there is `text`, of a transcript the rest. A
 * `summary` that was cleared is empty, and null before any was reported.
 * `lines` are compressed (see transcripts.document.ts), and null where none was ever reported.
 * `lines_digest` is a keyed digest of the reported lines, which hold the keys of those who speak. It distinguishes a
 * repeated report from a corrected one.
 * `first_line_id` begins the range of ids that the new lines of the last report got, null where no report brought any.
 * `spoken_until` is when the last line ends, in milliseconds from the start of the call, null where there is no line.
 * `corrections` is how often the organization corrected the text since it is final: each has its row in `callTextVersions`.
 * `replaced_size` is how many bytes of UTF-8 these hold.
 */
export const callTexts = sqliteTable(
  "call_texts",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer().notNull(),
    kind: text().$type<CallTextKind>().notNull(),
    text: text(),
    summary: text(),
    is_final: integer({ mode: "boolean" }).notNull(),
    lines_digest: text(),
    first_line_id: integer(),
    spoken_until: integer(),
    corrections: integer().notNull().default(0),
    replaced_size: integer().notNull().default(0),
    reported_at: integer().notNull().default(0),
    ...retention,
    ...timestamps,
    // The last column: SQLite reads the others without it.
    lines: blob(),
  },
  (t) => [
    uniqueIndex("call_texts_by_organization").on(t.organization_id, t.id),
    uniqueIndex("call_texts_of_call").on(t.call_id, t.kind),
    index("call_texts_retained").on(t.organization_id, t.call_ended_at).where(sql`not is_held`),
    withinOrganization(t, t.call_id, calls),
    check("call_texts_complete", sql`iif(kind = 'soap_note', text, lines_digest) is not null`),
  ],
);

/**
 * What a final text said before each correction, the first as version 1. `lines` is JSON: pairs of the id and the text of
 * the lines that the correction changed, null where it changed none. Who corrected it, when and why stands with the version that ended
 * then. Versions go with their text.
 */
export const callTextVersions = sqliteTable(
  "call_text_versions",
  {
    organization_id: organizationId(),
    text_id: integer().notNull(),
    version: integer().notNull(),
    text: text(),
    summary: text(),
    lines: text(),
    reason: text().notNull(),
    user_id: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.text_id, t.version] }),
    withinOrganization(t, t.text_id, callTexts).onDelete("cascade"),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/**
 * Recordings. `egress_id` is the recording backend's own id. `changed_by_user_id` is the user whom the report of the last
 * change named, null where nobody was named: the triggers that write the audit entries (see
 * audited_fields.ts) take it from here.
 *
 * `began_at` is known of one that came to its call by the name of its room (see isVisible in egresses.sql.ts).
 *
 * `ended_at` is null until the recording has ended. `early_ended_at` is what a report said of the end before that.
 *
 * `deletion_due_at` is when the cron next tries to delete the file, null while nothing is to be deleted. It is set
 * before a file is deleted and cleared after it, so that no deletion is forgotten. `deletion_requested_by`
 * is the user who wants it deleted, null for what is only too old: an organization may decide to keep that for longer.
 *
 * `is_announced` once the event says that it can be read (see triggers/events.sql).
 *
 * `check_at` is when the cron asks LiveKit about it, unless a report comes first; null once it has ended.
 */
export const egresses = sqliteTable(
  "egresses",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer().notNull(),
    egress_id: text().notNull(),
    status: text().notNull(),
    error: text(),
    is_stopped: integer({ mode: "boolean" }).notNull(),
    began_at: integer(),
    ended_at: integer(),
    early_ended_at: integer(),
    storage_key: text(),
    changed_by_user_id: integer(),
    deletion_due_at: integer(),
    deletion_requested_by: integer(),
    is_announced: integer({ mode: "boolean" }).notNull().default(false),
    ...retention,
    check_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("egresses_by_key").on(t.organization_id, t.egress_id),
    index("egresses_by_call").on(t.call_id, t.id),
    // For the cron: what may get too old, and what is to be deleted.
    index("egresses_retained")
      .on(t.organization_id, t.call_ended_at)
      .where(sql`not is_held and deletion_due_at is null and status <> 'egress_deleted'`),
    index("egresses_to_delete")
      .on(t.organization_id, t.deletion_due_at)
      .where(sql`not is_held and deletion_due_at is not null`),
    index("egresses_to_check").on(t.organization_id, t.check_at).where(sql`check_at is not null`),
    withinOrganization(t, t.call_id, calls),
  ],
);

/**
 * Every file that a recording ever named: no other recording can name it, and all of them go when the recording goes. Triggers
 * on egresses add them (see triggers/egress_files.sql).
 */
export const egressFiles = sqliteTable(
  "egress_files",
  {
    organization_id: organizationId(),
    storage_key: text().notNull(),
    egress_id: parentId(() => egresses.id),
    is_deleted: integer({ mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.storage_key] }),
    index("egress_files_left").on(t.egress_id).where(sql`not is_deleted`),
  ],
);

/**
 * What happened to a recording, and who read it. Entries are neither changed nor deleted: triggers refuse it, and
 * triggers on egresses write the entries of creations and changes (see audited_fields.ts).
 * `object_changes` holds [old, new] for each field as it is stored: times in milliseconds, booleans as 0 and 1.
 */
export const egressAuditLogs = sqliteTable(
  "egress_audit_logs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    egress_id: parentId(() => egresses.id),
    event: text().$type<AuditEvent>().notNull(),
    user_id: integer().notNull(),
    object_changes: text({ mode: "json" }).$type<Record<string, [unknown, unknown]>>(),
    created_at: integer().notNull(),
  },
  (t) => [
    index("egress_audit_logs_newest").on(t.egress_id, t.created_at, t.id),
    index("egress_audit_logs_by_event").on(t.egress_id, t.event, t.created_at, t.id),
  ],
);

/**
 * Who read or changed what: one entry for each requested operation, written in the transaction of what it records (see
 * resources/access_logs). It has ids and no texts. `user_id`, `api_client_id` and `request_id` say who asked, as which request;
 * the client itself says for whom (`acting_user`) and why (`purpose`). Entries are never changed, and are only deleted once
 * their day was sealed (see triggers/access_logs.sql). `request_id` is a UUID as 16 bytes: as text it would be the longest
 * column of what may be the largest table. `reference_digest` is a keyed digest of what was looked for, by which the log can be
 * searched for it.
 */
export const accessLogs = sqliteTable(
  "access_logs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    at: integer().notNull(),
    event: text().$type<AccessEvent>().notNull(),
    resource: text().$type<AccessResource>().notNull(),
    resource_id: integer(),
    call_id: integer(),
    organization_user_id: integer(),
    user_id: integer().notNull(),
    api_client_id: integer(),
    acting_user: text(),
    purpose: text().$type<PurposeOfUse>(),
    request_id: blob(),
    reference_digest: text(),
    /** Whether it counts for the quotas of its day (see http/quotas.ts). It is no part of the log. */
    is_counted: integer({ mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    uniqueIndex("access_logs_by_organization").on(t.organization_id, t.id),
    index("access_logs_of_call").on(t.organization_id, t.call_id, t.id).where(sql`call_id is not null`),
    index("access_logs_of_acting_user")
      .on(t.organization_id, t.acting_user, t.id)
      .where(sql`acting_user is not null`),
  ],
);

/**
 * The days of the access log that are sealed: a file has their entries, and a signature what the file must hold (see
 * resources/access_log_seals). A day has one seal. It is for the entries from `first_id` to `last_id`, all that followed
 * the seal before.
 * `sha256` is that of the file's lines, and `previous` that of the `jws` before, both in hex. `jws_sha256` is what the next seal
 * says of this one. Seals are never changed or deleted.
 */
export const accessLogSeals = sqliteTable(
  "access_log_seals",
  {
    id: idColumn(),
    organization_id: organizationId(),
    date: text().notNull(),
    count: integer().notNull(),
    first_id: integer().notNull(),
    last_id: integer().notNull(),
    sha256: text().notNull(),
    previous: text(),
    jws: text().notNull(),
    jws_sha256: text().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex("access_log_seals_by_date").on(t.organization_id, t.date),
    uniqueIndex("access_log_seals_by_entry").on(t.organization_id, t.last_id),
  ],
);

/**
 * When the access log last recorded that a client read who waits in a room, for whom and why: who asks again and again is
 * recorded once a minute. `acting_user` and `purpose` are empty where the client does not say them.
 */
export const waitingListReads = sqliteTable(
  "waiting_list_reads",
  {
    organization_id: organizationId(),
    api_client_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    acting_user: text().notNull(),
    purpose: text().notNull(),
    recorded_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.api_client_id, t.waiting_room_id, t.acting_user, t.purpose] }),
    index("waiting_list_reads_by_age").on(t.organization_id, t.recorded_at),
  ],
);

/**
 * What LiveKit said of egresses whose call nobody has reported yet, by the sid and the name of its room. When a call has
 * one of them as its key, a trigger makes the egress (see triggers/livekit_egresses.sql). The cron deletes what no call
 * came for. `started_at` is when it began, or an event that did not say came.
 */
export const livekitEgresses = sqliteTable(
  "livekit_egresses",
  {
    organization_id: organizationId(),
    egress_id: text().notNull(),
    room_sid: text(),
    room_name: text(),
    status: text().notNull(),
    error: text(),
    is_stopped: integer({ mode: "boolean" }).notNull(),
    started_at: integer().notNull(),
    ended_at: integer(),
    storage_key: text(),
    check_at: integer(),
    ...timestamps,
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.egress_id] }),
    index("livekit_egresses_by_sid").on(t.organization_id, t.room_sid),
    index("livekit_egresses_by_name").on(t.organization_id, t.room_name),
    uniqueIndex("livekit_egresses_by_file")
      .on(t.organization_id, t.storage_key)
      .where(sql`storage_key is not null`),
    index("livekit_egresses_by_age").on(t.organization_id, t.updated_at),
  ],
);

/** The identity providers with which the users of an organization may sign in. The operator registers them. */
export const issuers = sqliteTable(
  "issuers",
  {
    id: idColumn(),
    organization_id: organizationId(),
    issuer: text().notNull(),
    audience: text().notNull(),
    jwks_url: text().notNull(),
    email_claim: text().notNull(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("issuers_by_organization").on(t.organization_id, t.issuer),
    index("issuers_listed").on(t.organization_id, t.id),
  ],
);

/** `code_digest` is the SHA-256 of the code in hex. The code itself is not stored. */
export const authorizationCodes = sqliteTable(
  "authorization_codes",
  {
    id: idColumn(),
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    code_digest: text().notNull().unique(),
    expires_at: integer().notNull(),
    used_at: integer(),
    created_at: integer().notNull(),
  },
  (t) => [
    index("authorization_codes_by_expiry").on(t.organization_id, t.expires_at),
    withinOrganization(t, t.organization_user_id, organizationUsers),
  ],
);

/**
 * An invite is pending until it is used, also when it has expired. An email has at most one pending invite. A pending one
 * goes when the member who made it may no longer make it (see memberships.sql.ts).
 *
 * `resent_at` is when it was last sent again: its link names that time. `mailed_at` is when the last mail was sent, and
 * `next_mail_at` when one is due, or, once it is leased, due again should its sender die. `mail_attempts` have failed with an
 * error that passes. Of `mail_leases` it is not known what came of them.
 */
export const invites = sqliteTable(
  "invites",
  {
    id: idColumn(),
    organization_id: organizationId(),
    email: text().notNull(),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    expires_at: integer().notNull(),
    used_at: integer(),
    ...timestamps,
    created_by_user_id: integer().notNull(),
    resent_at: integer(),
    mail_status: text().$type<MailStatus>().notNull().default("off"),
    mailed_at: integer(),
    next_mail_at: integer(),
    mail_attempts: integer().notNull().default(0),
    mail_leases: integer().notNull().default(0),
  },
  (t) => [
    uniqueIndex("invites_pending").on(t.organization_id, t.email).where(sql`used_at is null`),
    // To skip pages, and what has expired, SQLite needs only this index.
    index("invites_listed").on(t.organization_id, t.id, t.expires_at).where(sql`used_at is null`),
    // For the totals. With the organization first, they do not read what expires elsewhere.
    index("invites_by_expiry").on(t.organization_id, t.expires_at).where(sql`used_at is null`),
    // For the platform, which lists those of all organizations.
    index("invites_unused").on(t.id, t.expires_at).where(sql`used_at is null`),
    // For a member who may no longer make them.
    index("invites_by_creator").on(t.organization_id, t.created_by_user_id).where(sql`used_at is null`),
    index("invites_to_mail").on(t.organization_id, t.next_mail_at).where(sql`next_mail_at is not null`),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
  ],
);

/**
 * How many mails to an address an organization has decided to send on a UTC day, for its limit (see triggers/mails.sql). A row
 * outlives the invites, or the limit could be evaded by deleting them. The address is stored as a keyed digest only, so that this
 * table tells nobody who was invited.
 */
export const mailedAddresses = sqliteTable(
  "mailed_addresses",
  {
    organization_id: organizationId(),
    /** When the UTC day began. */
    day: integer().notNull(),
    address_digest: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.day, t.address_digest] })],
);

/**
 * Rows end in portions, the next of which is due at `next_attempt_at`, until the last row has ended (`completed_at`). `faults`
 * counts the portions that failed for a fault of the service. `erased_at` is when the cron had deleted the personal data of
 * all rows.
 */
export const bulkInvites = sqliteTable(
  "bulk_invites",
  {
    id: idColumn(),
    organization_id: organizationId(),
    total_count: integer().notNull(),
    next_attempt_at: integer().notNull(),
    faults: integer().notNull().default(0),
    completed_at: integer(),
    erased_at: integer(),
    ...timestamps,
    created_by_user_id: integer().notNull(),
  },
  (t) => [
    uniqueIndex("bulk_invites_by_organization").on(t.organization_id, t.id),
    index("bulk_invites_uncompleted")
      .on(t.organization_id, t.next_attempt_at)
      .where(sql`completed_at is null`),
    // For a member who may no longer make them.
    index("bulk_invites_by_creator")
      .on(t.organization_id, t.created_by_user_id)
      .where(sql`completed_at is null`),
    index("bulk_invites_unerased").on(t.organization_id, t.created_at).where(sql`erased_at is null`),
    // For the quota: how many rows an organization has sent lately.
    index("bulk_invites_lately").on(t.organization_id, t.created_at, t.total_count),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
  ],
);

/**
 * `row` is the position in the request, counted from 0. `error` says why a row failed. `address_digest` is the email's, as in
 * `mailed_addresses`. It, `email` and `display_name` are empty once the personal data is deleted.
 */
export const bulkInviteRows = sqliteTable(
  "bulk_invite_rows",
  {
    organization_id: organizationId(),
    bulk_invite_id: integer().notNull(),
    row: integer().notNull(),
    email: text().notNull(),
    address_digest: text().notNull().default(""),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    status: text().$type<BulkInviteRowStatus>().notNull(),
    error: text(),
  },
  (t) => [
    primaryKey({ columns: [t.bulk_invite_id, t.row] }),
    index("bulk_invite_rows_by_status").on(t.bulk_invite_id, t.status, t.row),
    index("bulk_invite_rows_by_email").on(t.bulk_invite_id, t.email, t.row),
    withinOrganization(t, t.bulk_invite_id, bulkInvites),
  ],
);

/**
 * What happened in an organization, in order. Triggers write the events, in the transaction of the change (see
 * triggers/events.sql), and refuse changes of them; the cron deletes old ones. `data` holds ids, and of a sealed day its
 * date and digest; nothing else.
 */
export const events = sqliteTable(
  "events",
  {
    id: idColumn(),
    organization_id: organizationId(),
    type: text().$type<EventType>().notNull(),
    data: text({ mode: "json" }).$type<Record<string, number | string>>().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex("events_by_organization").on(t.organization_id, t.id),
    index("events_by_type").on(t.organization_id, t.type, t.id),
    index("events_by_age").on(t.organization_id, t.created_at),
  ],
);

/**
 * The URLs to which an organization wants its events sent. `event_types` is a JSON array of types and families, and
 * null for all types, also those that there will be. `disabled_reason` says why the service has stopped sending; it is
 * null if the organization did. Deliveries are signed with `secret`, so it is stored as it is, and with each of
 * `previous_secrets` that has not expired. `service_url` is where the service was reached when the URL was set: with
 * it, the URL is checked again when something is sent. `created_by_user_id` is the administrator who answers for it:
 * who made it, or last gave it another URL or turned it on. When this user is no administrator any more, it is turned
 * off.
 *
 * Of the deliveries: `due_at` is when the next is due, or earlier, and null if none is pending. Until `lease_until`, only
 * the lane that set it sends (see webhook_lanes.service.ts). `failing_since` is when a delivery failed after the last
 * that did not. `message_at` is when the message that the queue has for the endpoint comes, or came.
 */
export const webhookEndpoints = sqliteTable(
  "webhook_endpoints",
  {
    id: idColumn(),
    organization_id: organizationId(),
    url: text().notNull(),
    event_types: text({ mode: "json" }).$type<EventTypeName[]>(),
    is_active: integer({ mode: "boolean" }).notNull(),
    disabled_reason: text().$type<DisabledReason>(),
    secret: text().notNull(),
    previous_secrets: text({ mode: "json" })
      .$type<{ secret: string; expires_at: number }[]>()
      .notNull()
      .default([]),
    ...timestamps,
    created_by_user_id: integer().notNull(),
    service_url: text(),
    due_at: integer(),
    lease_until: integer(),
    failing_since: integer(),
    message_at: integer(),
  },
  (t) => [
    uniqueIndex("webhook_endpoints_by_organization").on(t.organization_id, t.id),
    index("webhook_endpoints_due").on(t.due_at).where(sql`due_at is not null and is_active`),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
  ],
);

/**
 * What becomes of an event at an endpoint. Triggers write a row with the event, for each endpoint that wants it, and keep
 * `due_at` of the endpoint (see triggers/webhook_deliveries.sql). `next_attempt_at` is null when it was delivered or
 * given up. `response_status` and `error` are those of the last attempt.
 *
 * Rows refer to their endpoint and event without foreign keys: an endpoint can have hundreds of thousands, which the cron
 * deletes in portions after it, as it does with those of deleted events.
 */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    organization_id: organizationId(),
    webhook_endpoint_id: integer().notNull(),
    event_id: integer().notNull(),
    attempts: integer().notNull().default(0),
    last_attempt_at: integer(),
    response_status: integer(),
    error: text(),
    next_attempt_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.webhook_endpoint_id, t.event_id] }),
    // In the order in which they are sent, with all that a lane wants: SQLite would take the primary key otherwise, and
    // read what was delivered too.
    index("webhook_deliveries_pending")
      .on(t.webhook_endpoint_id, t.event_id, t.next_attempt_at, t.attempts)
      .where(sql`next_attempt_at is not null`),
  ],
);

/**
 * What an organization stored on a UTC date: the writes of its API clients, the entries of its access log, and the calls that
 * were first reported. `api_client_id` is 0 for all of its clients together; the rows of single clients are there for a day or
 * two, because each may use only a part of what its organization may store (see http/quotas.ts).
 */
export const organizationDays = sqliteTable(
  "organization_days",
  {
    organization_id: organizationId(),
    /** `YYYY-MM-DD`. */
    date: text().notNull(),
    api_client_id: integer().notNull().default(0),
    writes: integer().notNull().default(0),
    access_log_entries: integer().notNull().default(0),
    visits: integer().notNull().default(0),
    /** Mails that it decided to send: see triggers/mails.sql. */
    mails: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.date, t.api_client_id] }),
    index("organization_days_of_clients").on(t.date).where(sql`api_client_id <> 0`),
  ],
);

/**
 * The lengths of the lists whose rows it would take too long to count. Triggers keep them (see triggers/list_totals.sql):
 * nothing else writes here. `owner_id` is whose list it is: an egress (for audit entries, by event), 0 (for
 * organizations), or an organization. Retired waiting rooms and revoked API clients count.
 */
export const listTotals = sqliteTable(
  "list_totals",
  { list: text().$type<ListName>().notNull(), owner_id: integer().notNull(), total: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.owner_id] })],
);

export type ListName =
  | "api_clients"
  | "invites"
  | "issuers"
  | "organization_users"
  | "organizations"
  | "waiting_rooms"
  | `egress_audit_logs:${AuditEvent}`;

/** The highest number so far that was given out, of what is numbered but has no row of its own. */
export const sequences = sqliteTable("sequences", {
  name: text().$type<"transcript_lines">().primaryKey(),
  value: integer().notNull(),
});

/**
 * What holds for this database as a whole. The row `quiet` is there from a restore until `npm run restore -- --resume`, and
 * its value is when it was written: meanwhile nothing goes out into the world (see quiet.ts). The value of `range` is the
 * range from which the database gives out ids: see `shards`. The directory has none, because its range is 0. The value of
 * `shard` is the number of the binding by which the database is to be reached, so that bindings cannot be mixed up unnoticed.
 */
export const databaseSettings = sqliteTable("database_settings", {
  name: text().$type<"quiet" | "range" | "shard">().primaryKey(),
  value: integer().notNull(),
});

/*
 * The directory: what only the first database has (see src/directory). In every other database these tables are empty.
 */

/** The organizations, and the database in which each lives. They get their ids and slugs here. */
export const places = sqliteTable(
  "places",
  { id: idColumn(), slug: text().notNull().unique(), ...slugParts(), shard: integer().notNull() },
  (t) => [index("places_by_stem").on(t.slug_stem, t.slug_number)],
);

/**
 * The databases, by the numbers of their bindings, and their ranges of ids: an id is `range * 2^32 + n`. A range is never given
 * twice. So ids of two databases never meet, and an organization moves with its ids: the database to which it moves gets a new
 * range, above all others, so that its next ids are higher. Until then, the first one has no row, and the range 0.
 */
export const shards = sqliteTable("shards", {
  shard: integer().primaryKey(),
  range: integer().notNull().unique(),
});

/**
 * Organizations that have rows in this database and do not live here: they are moving, or have moved (see src/dev/move.ts).
 * Nothing works on their rows, and where they moved from, triggers refuse to change them. `shard` is where they live, null
 * while they are still moving. `client_ids` is a JSON array: the id of a client names the database in which it was made.
 * `attempt` is who moves it, so that two never decide on one move.
 */
export const moves = sqliteTable("moves", {
  organization_id: integer().primaryKey(),
  slug: text().notNull(),
  shard: integer(),
  client_ids: text().notNull().default("[]"),
  attempt: text(),
});

/** Always empty: a trigger refuses every row, and with it the row's batch (see triggers/write_conflicts.sql). */
export const writeConflicts = sqliteTable("write_conflicts", { reason: text().notNull() });

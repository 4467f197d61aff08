/** Rows as the floor's statements give them, as JSON. */

// biome-ignore lint/suspicious/noExplicitAny: the floor trusts its statements
export type Row = Record<string, any>;

const time = (milliseconds: number) => new Date(milliseconds).toISOString();

const timeOrNull = (milliseconds: number | null) => (milliseconds === null ? null : time(milliseconds));

export const room = (r: Row) => ({
  id: r.id,
  organization_id: r.user_id === null ? r.organization_id : null,
  user_id: r.user_id,
  name: r.name,
  slug: r.slug,
  theme: r.theme,
  is_active: r.is_active === 1,
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
  waiting_count: r.waiting_count,
  user: { display_name: r.owner },
});

export const sub = (r: Row) => ({
  id: r.id,
  waiting_room_id: r.waiting_room_id,
  user_id: r.user_id,
  sub_waiting_room_slug: r.sub_slug,
  datetime_start: time(r.datetime_start),
  datetime_end: time(r.datetime_end),
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const member = (r: Row) => ({
  id: r.id,
  user_id: r.user_id,
  email: r.email,
  display_name: r.display_name,
  roles: JSON.parse(r.roles),
});

export const user = (r: Row) => ({
  ...member(r),
  organization_id: r.organization_id,
  waiting_room_slug: r.waiting_room_slug,
  assists: JSON.parse(r.assists),
});

export const apiClient = (r: Row) => ({
  id: r.id,
  name: r.name,
  organization_user_id: r.organization_user_id,
  client_id: r.client_id,
  revoked_at: timeOrNull(r.revoked_at),
});

export const call = (r: Row) => ({
  id: r.id,
  organization_user_id: r.organization_user_id,
  waiting_room_id: r.waiting_room_id,
  is_ended: r.ended_at !== null,
  started_at: time(r.started_at),
  ended_at: timeOrNull(r.ended_at),
});

export const invite = (r: Row) => ({
  id: r.id,
  email: r.email,
  display_name: r.display_name,
  roles: JSON.parse(r.roles),
  organization_id: r.organization_id,
  organization_name: r.organization_name,
  expires_at: time(r.expires_at),
  used_at: timeOrNull(r.used_at),
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const bulkInvite = (r: Row) => ({
  id: r.id,
  status: r.created_count + r.failed_count < r.total_count ? "pending" : "completed",
  total_count: r.total_count,
  created_count: r.created_count,
  failed_count: r.failed_count,
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const egress = (r: Row) => ({
  id: r.id,
  egress_id: r.egress_id,
  status: r.status,
  error: r.error,
  is_stopped: r.is_stopped === 1,
  ended_at: timeOrNull(r.ended_at),
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const auditLog = (r: Row) => ({
  id: r.id,
  event: r.event,
  user_id: r.user_id,
  object_changes: r.object_changes && changes(JSON.parse(r.object_changes)),
  created_at: time(r.created_at),
});

function changes(stored: Row) {
  if (stored.ended_at) stored.ended_at = stored.ended_at.map(timeOrNull);
  if (stored.is_stopped)
    stored.is_stopped = stored.is_stopped.map((each: 0 | 1 | null) => each && each === 1);
  return stored;
}

export const event = (r: Row) => ({
  id: r.id,
  type: r.type,
  created_at: time(r.created_at),
  data: JSON.parse(r.data),
});

const EVENT_TYPES = [
  "call.started",
  "call.ended",
  "transcript.finalized",
  "soap_note.finalized",
  "egress.started",
  "egress.ended",
  "egress.deleted",
  "invite.accepted",
  "bulk_invite.completed",
  "organization_user.added",
  "organization_user.removed",
  "waiting_room_sub.changed",
];

export const webhookEndpoint = (r: Row) => ({
  id: r.id,
  url: r.url,
  event_types: r.event_types === null ? EVENT_TYPES : JSON.parse(r.event_types),
  is_active: r.is_active === 1,
  disabled_reason: r.disabled_reason,
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const delivery = (r: Row) => ({
  event_id: r.event_id,
  event_type: r.event_type,
  attempts: r.attempts,
  last_attempt_at: r.last_attempt_at === null ? null : time(r.last_attempt_at),
  response_status: r.response_status,
  error: r.error,
  next_attempt_at: r.next_attempt_at === null ? null : time(r.next_attempt_at),
});

export function metrics(rows: Row[]) {
  const answer: Row = { total_calls: {}, average_duration: {}, call_fail_rate: {}, average_wait_time: {} };
  for (const r of rows) {
    answer.total_calls[r.date] = r.total_calls;
    answer.average_duration[r.date] = r.completed_calls ? r.duration_ms / 1000 / r.completed_calls : 0;
    answer.call_fail_rate[r.date] = r.failed_calls / r.total_calls;
    answer.average_wait_time[r.date] = r.waits ? r.wait_ms / 1000 / r.waits : 0;
  }
  return answer;
}

export const organization = ({ total_count, ...r }: Row) => ({
  ...r,
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
});

export const issuer = organization;

export const participant = (r: Row) => ({
  id: r.id,
  key: r.key,
  waiting_room_id: r.waiting_room_id,
  call_id: r.call_id,
  user_id: r.user_id,
  display_name: r.display_name,
  role: r.role,
  waiting_since: timeOrNull(r.waiting_since),
  joined_at: timeOrNull(r.joined_at),
  left_at: timeOrNull(r.left_at),
});

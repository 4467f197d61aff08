/*
 * All examples tell this story, and the demo organization has its people, rooms, calls and ids (dev/demo_organization.ts), so that an
 * example works as it stands. Riverside Clinic has an administrator, two providers and an assistant. On 31 January 2026, Rita waits in
 * the room Cardiology and has a call with Paula, which is recorded. Ines is invited, and accepts. Rita's next visit is planned for
 * October 2028, as far ahead as a visit may be, and Sam substitutes for Paula on that day: what is held is in the past, what a request
 * plans is in the future.
 */

export const CLINIC = { id: 1, name: "Riverside Clinic", slug: "riverside-clinic" };

export const APP_URL = "https://app.example.com";

/** Members: the `user_id` of each is also the id of the organization user. */
export const OLGA = { id: 11, user_id: 11, email: "olga@example.com", display_name: "Olga Owner" };
export const PAULA = { id: 12, user_id: 12, email: "paula@example.com", display_name: "Paula Provider" };
export const SAM = { id: 13, user_id: 13, email: "sam@example.com", display_name: "Sam Substitute" };
export const ANN = { id: 14, user_id: 14, email: "ann@example.com", display_name: "Ann Assistant" };
/** A former member. */
export const FRED = { id: 15, user_id: 15, email: "fred@example.com", display_name: "Fred Former" };
export const INES = { id: 16, user_id: 16, email: "ines@example.com", display_name: "Ines Invited" };
/** People who are not in the organization before a request adds or invites them. */
export const PETRA = { id: 17, user_id: 17, email: "petra@example.com", display_name: "Petra Provider" };
export const NINA = { email: "nina@example.com", display_name: "Nina Newcomer" };
export const IVY = { email: "ivy@example.com", display_name: "Ivy Invited" };

/** A room of the organization. */
export const CARDIOLOGY = { id: 7, name: "Cardiology", slug: "riverside-clinic--cardiology" };

/** Personal rooms. */
export const PAULAS_ROOM = { id: 8, name: PAULA.display_name, slug: "riverside-clinic--paula-provider" };
export const SAMS_ROOM = { id: 9, name: SAM.display_name, slug: "riverside-clinic--sam-substitute" };
export const INESS_ROOM = { id: 10, name: INES.display_name, slug: "riverside-clinic--ines-invited" };
export const PETRAS_ROOM = { slug: "riverside-clinic--petra-provider" };

/** The API clients of the clinic's scheduling system: the second one replaced the first one. */
export const REVOKED_CLIENT = { id: 3, client_id: "YW4tb2xkZXItY2xpZW50LQ", secret_hint: "9tQz" };
export const API_CLIENT = { id: 5, name: "Scheduling system", client_id: "Y2xpZW50LWlkLW9mLTE2LQ" };

export const SUB_ID = 21;

/** Paula's call with Rita in Cardiology. */
export const CALL = { id: 300, key: "call-5d20" };
export const RITAS_PARTICIPANT = { id: 401, key: "visit-500-1", display_name: "Rita Recipient" };
/** Rita as the participant of her next visit. */
export const RITAS_NEXT_PARTICIPANT = { ...RITAS_PARTICIPANT, id: 403, key: "visit-501-1" };
export const PAULAS_PARTICIPANT = { id: 402, key: "participant-2b7e", display_name: PAULA.display_name };
/** The visit that the call belongs to. */
export const HELD_VISIT = { id: 500 };
/** Rita's next visit. */
export const VISIT = { id: 501, participant_id: 1 };
/** The token in Rita's link to it. */
export const VISIT_TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6InZpc2l0K2p3dCJ9.eyJzdWIiOiIxIiwib3JnYW5pemF0aW9uX2lkIjoxLCJ2aXNpdF9pZCI6NTAxLCJjcmVhdGVkX2F0IjoxNzkxMjE2MDAwMDAwfQ.YSBzaWduYXR1cmUgdGhhdCBoYXMgdGhpcnR5LXR3byA";
/** The positions in their lists after the held visit, and after the call. */
export const VISIT_POSITION = "1769851800000.500";
export const CALL_POSITION = "1769851800000.300";
/** The clinic's own system knows the visits and Rita by these. */
export const HELD_VISIT_REFERENCE = "visit-10482";
export const VISIT_REFERENCE = "visit-11207";
export const RITAS_REFERENCE = "patient-4711";
export const LIVEKIT_ROOM = { sid: "RM_7A62FjVFwWw5", name: "riverside-clinic--cardiology-4711" };
export const EGRESS = { id: 61, egress_id: "EG_7fK2mQ9x" };
/** An earlier attempt to record the call. */
export const FAILED_EGRESS = { id: 60, egress_id: "EG_4hT8sW2c" };
export const RECORDED_FILE = { started_at: "2026-01-31T09:31:02.250Z", duration: 837.5, size: 104_857_600 };

export const STORAGE_KEY = "riverside-clinic/call-5d20.mp4";

export const AUTHORIZATION_CODE = "YW4tYXV0aG9yaXphdGlvbi1jb2RlLTMyLWJ5dGVzLS0";

export const WEBHOOK_ENDPOINT = { id: 6, url: "https://hooks.example.com/visits" };
export const WEBHOOK_SECRET = "whsec_ZXhhbXBsZS1vZi1hLXNlY3JldC10aGF0LWlzLTMyYnk=";
export const NEW_WEBHOOK_SECRET = "whsec_ZXhhbXBsZS1vZi1hLW5ldy1rZXktZm9yLXdlYmhvb2s=";

/** The invite of Ines, and the next one. */
export const INVITE_ID = 81;
export const NEXT_INVITE_ID = 82;
export const INVITE_TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6Imludml0ZStqd3QifQ.eyJzdWIiOiI4MSIsIm9yZ2FuaXphdGlvbl9pZCI6MSwiY3JlYXRlZF9hdCI6MTc2OTc4MTYwMDAwMH0.YSBzaWduYXR1cmUgdGhhdCBoYXMgdGhpcnR5LXR3byA";
/** A bulk invite, an hour later. */
export const BULK_INVITE_ID = 91;

/** The event that the call ended. */
export const EVENT_ID = 1043;

/**
 * Two days of the access log with real digests, signed by the key in the guide to checking the log, so that programs
 * that verify seals can be tested with them.
 */
export const SEAL_BEFORE = {
  date: "2026-01-30",
  count: 96,
  first_id: 4802,
  last_id: 5166,
  sha256: "9b45cb31a5e5f421feac5fcbbd1e2fe79a92a201ef518037a993371e3e041147",
  previous: null,
  jws: "eyJhbGciOiJFZERTQSIsInR5cCI6ImFjY2Vzcy1sb2ctc2VhbCIsImtpZCI6IlNnSDgzWEQzaVRPel9nLXA1SDJOTkk0NDNULUN1YTZOUzdZSXJsT1JyVUEifQ.eyJvcmdhbml6YXRpb25faWQiOjEsImRhdGUiOiIyMDI2LTAxLTMwIiwiY291bnQiOjk2LCJmaXJzdF9pZCI6NDgwMiwibGFzdF9pZCI6NTE2Niwic2hhMjU2IjoiOWI0NWNiMzFhNWU1ZjQyMWZlYWM1ZmNiYmQxZTJmZTc5YTkyYTIwMWVmNTE4MDM3YTk5MzM3MWUzZTA0MTE0NyIsInByZXZpb3VzIjpudWxsfQ.eGLX8A9A31qNumPXVrnnvArlciWYB64g8ZDv-Y6AaB1bhV56eB9DzPnHpzh1mCOBRRuPJvB51hIdm_Ml1AdsBA",
};
/** Separate, because the Worker's bundle includes this, but not the seal. */
export const SEALED_DATE = "2026-01-31";
export const SEAL = {
  date: SEALED_DATE,
  count: 112,
  first_id: 5167,
  last_id: 5402,
  sha256: "dd7772a823a33176135113717aa765b8ce389cab0725b37bcb02b18ab01d23fc",
  previous: "7eb9a1d5a610486825278d2cb5ae7b4f60a6a103fffcc1583534f91d6e3a577f",
  jws: "eyJhbGciOiJFZERTQSIsInR5cCI6ImFjY2Vzcy1sb2ctc2VhbCIsImtpZCI6IlNnSDgzWEQzaVRPel9nLXA1SDJOTkk0NDNULUN1YTZOUzdZSXJsT1JyVUEifQ.eyJvcmdhbml6YXRpb25faWQiOjEsImRhdGUiOiIyMDI2LTAxLTMxIiwiY291bnQiOjExMiwiZmlyc3RfaWQiOjUxNjcsImxhc3RfaWQiOjU0MDIsInNoYTI1NiI6ImRkNzc3MmE4MjNhMzMxNzYxMzUxMTM3MTdhYTc2NWI4Y2UzODljYWIwNzI1YjM3YmNiMDJiMThhYjAxZDIzZmMiLCJwcmV2aW91cyI6IjdlYjlhMWQ1YTYxMDQ4NjgyNTI3OGQyY2I1YWU3YjRmNjBhNmExMDNmZmZjYzE1ODM1MzRmOTFkNmUzYTU3N2YifQ.0sLu9OHnwynrZYXWql67RK9ujqykYZp9TCcitXvAouIBkjh5CIaHUvnyI3sGWaonks1bLW1-GWo40nXzdClYAg",
};
/** The SHA-256 of its `jws`. */
export const SEAL_SHA256 = "840baca5af6434340ddb8e94719d7bdfc266cd94f919dc62fd3f6514b0dc2e0b";

/** In chronological order. */
export const SET_UP_AT = "2026-01-05T08:00:00.000Z";
export const REVOKED_AT = "2026-01-26T09:30:00.000Z";
export const INVITED_AT = "2026-01-30T14:00:00.000Z";
export const INVITE_MAILED_AT = "2026-01-30T14:00:01.000Z";
export const MANY_INVITED_AT = "2026-01-30T15:00:00.000Z";
export const HELD_VISIT_PLANNED_AT = "2026-01-30T16:00:00.000Z";
export const WAITING_SINCE = "2026-01-31T09:25:00.000Z";
export const STARTED_AT = "2026-01-31T09:30:00.000Z";
export const RECORDED_FROM = "2026-01-31T09:31:00.000Z";
export const ENDED_AT = "2026-01-31T09:45:00.000Z";
export const HELD_VISIT_ENDS_AT = "2026-01-31T10:30:00.000Z";
/** When the cron saw that the visit's time was over. */
export const HELD_VISIT_ENDED_AT = "2026-01-31T10:30:04.000Z";
export const DOWNLOADED_AT = "2026-01-31T10:00:00.000Z";
export const SEALED_AT = "2026-02-01T01:00:00.000Z";
export const ACCEPTED_AT = "2026-02-03T09:00:00.000Z";
/** When the call's note was corrected. */
export const CORRECTED_AT = "2026-02-03T08:15:00.000Z";

export const HOLD = {
  reason: "Case 2026-118 of the district court",
  began_at: "2026-02-05T11:00:00.000Z",
  begun_by: "platform" as const,
};
export const INVITE_EXPIRES_AT = "2026-02-06T14:00:00.000Z";
/** When Rita withdrew her consent. */
export const WITHDRAWN_AT = "2026-02-04T11:00:00.000Z";
/** When the next visit and its substitution are planned, and when they change. */
export const PLANNED_AT = "2026-10-05T16:00:00.000Z";
export const PLAN_CHANGED_AT = "2026-10-06T09:00:00.000Z";
/** After 365 days, the clinic's retention of recordings. */
export const RECORDING_DELETED_AT = "2027-01-31T09:45:00.000Z";
export const SUB_STARTS_AT = "2028-10-02T08:00:00.000Z";
export const VISIT_STARTS_AT = "2028-10-02T09:30:00.000Z";
export const VISIT_ENDS_AT = "2028-10-02T10:30:00.000Z";
export const SUB_ENDS_AT = "2028-10-02T16:00:00.000Z";

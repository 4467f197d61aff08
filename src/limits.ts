import { KIB } from "./units.ts";

/* How much callers may send and receive, each with its reason. Sizes are in bytes. */

/** Setup requests have a few short fields. */
export const EXTERNAL_BODY_LIMIT = 64 * KIB;

/** The transcript of an hour takes 52 KB. */
export const PLATFORM_BODY_LIMIT = KIB * KIB;

/** As large as a report, because a correction can replace a whole text. */
export const CORRECTION_BODY_LIMIT = PLATFORM_BODY_LIMIT;

/** Enough for the largest bulk invite. */
export const BULK_INVITES_BODY_LIMIT = KIB * KIB;

/** Tokens can list all groups of a person. Also, text that is not a JWT gets 401, not 413. */
export const TOKEN_EXCHANGE_BODY_LIMIT = 256 * KIB;

/** In bytes per second, after BODY_GRACE. */
export const MIN_BODY_RATE = 32 * KIB;

/** A LiveKit event describes a room, a participant or an egress, whose metadata can take a few kilobytes. */
export const LIVEKIT_BODY_LIMIT = 256 * KIB;

/** Objects and arrays in a JSON body: twice as many as the longest transcript has. Each takes about 60 bytes of memory. */
export const MAX_JSON_CONTAINERS = 20_000;

/** Problems of a body listed in one error text. A list of a thousand rows can have thousands. */
export const MAX_NAMED_FAULTS = 10;

export const DEFAULT_PER_PAGE = 25;

/** Keeps the response and the read small. */
export const MAX_PER_PAGE = 100;

/** In characters: about 600 ranges of ids. Each organization that moves begins one, needed as long as its events are kept. */
export const MAX_EVENT_POSITIONS_LENGTH = 8000;

/** Digits of an integer in a path or a query. No value needs this many. */
export const MAX_INTEGER_LENGTH = 1000;

/** Up to this page, offsets are exact integers. */
export const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PER_PAGE);

/** Calls, or visits, with a given reference that a request searches for those the caller may see: more than any patient has. */
export const CALLS_LOOKED_THROUGH = 1000;
export const VISITS_LOOKED_THROUGH = 1000;

/** Recordings that a request searches for those the caller may see. Each costs a few rows of its call's participants. */
export const EGRESSES_LOOKED_THROUGH = 1000;

/** Participations, and planned visits, that one request erases. Each changes a few rows of other tables. */
export const ERASED_PORTION = 200;

/** Participations, and planned visits, that a request to erase a person counts: more than any patient has. */
export const ERASURES_COUNTED = 1000;

/** Items before a page, which SQLite reads to skip. Quotas keep most lists shorter; audit logs and members have none. */
export const MAX_SKIPPED = 100_000;

export const MAX_NAME_LENGTH = 255;

/** RFC 5321 limits a path to 256 characters, including the < and > around the address. */
export const MAX_EMAIL_LENGTH = 254;

export const MAX_KEY_LENGTH = 255;

/** As long as a key, because it is the key of another system. */
export const MAX_EXTERNAL_REFERENCE_LENGTH = 255;

/** All slugs of the organization's rooms begin with this slug. 63 is the limit of a DNS label. */
export const MAX_ORGANIZATION_SLUG_LENGTH = 63;

/** The operator chooses the names of regions. */
export const MAX_REGION_LENGTH = 20;

/** In characters. The longest name of a zone has 32. */
export const MAX_TIME_ZONE_LENGTH = 64;
export const MAX_IDENTIFIER_SYSTEM_LENGTH = 255;

/** LiveKit's own sids have 15 characters. Calls, participants and egresses store them. */
export const MAX_LIVEKIT_SID_LENGTH = 64;

/** In characters: LiveKit's default limit. Egresses store the name. */
export const MAX_LIVEKIT_ROOM_NAME_LENGTH = 256;

/** A room's slug is built from the organization's slug and the room's name. Some characters of a name become eight. */
export const MAX_SLUG_LENGTH = 4000;

export const MAX_THEME_LENGTH = 50;

/** Enough for more fractional digits than any clock has. */
export const MAX_TIMESTAMP_LENGTH = 64;

/** There are three roles. A list may repeat them. */
export const MAX_ROLE_NAMES = 10;

/** Providers that one user assists. The ids go to D1 in one parameter. */
export const MAX_ASSISTS = 1000;

/** Subs of a room that are not over yet. Without `per_page`, their list is one page. */
export const MAX_SUBS = 1000;

/** Active subs that lead on from a room, one after the other. Each costs a few reads of every participant who opens the room. */
export const MAX_SUBS_FOLLOWED = 10;

/** Lookups of unknown client ids per isolate and period, for an address beyond its limit. D1 easily handles ten a second. */
export const LOOK_UPS_BEYOND_LIMIT = 600;

/** In characters. A client sends one version, or a few. */
export const MAX_IF_MATCH_LENGTH = 1000;

/** In characters. A UUID has 36. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** In characters. Every entry of the access log contains it, and entries are kept for years. */
export const MAX_ACTING_USER_LENGTH = 64;

/** Entries of the access log in one NDJSON response: some megabytes, and the most that a request may read. */
export const MAX_EXPORTED_ACCESS_LOGS = 10_000;

/** Random bytes, two of which may name a shard: enough to rule out collisions. */
export const CLIENT_ID_BYTES = 16;

/** The prefix of API client secrets, so that scanners can find them in repositories. */
export const CLIENT_SECRET_PREFIX = "ovv_";

/** Characters from the end of a secret that lists show. The rest stays too long to guess. */
export const SECRET_HINT_LENGTH = 4;

/** Twice the number of scopes. A list may repeat them. */
export const MAX_SCOPE_NAMES = 32;

/** In characters. The service's ids have 22; a longer one is unknown, and is not cached. */
export const MAX_CLIENT_ID_LENGTH = 64;

/** Too long to guess: 32 hex characters are 16 random bytes. src/docs/settings.md recommends 32 random bytes. */
export const MIN_PLATFORM_TOKEN_LENGTH = 32;

/** The longest range of metrics, in dates: ten years. Such a response takes about 400 KB. */
export const MAX_METRICS_DAYS = 3660;

/** Metrics are summed by quarter hour, in milliseconds: since 1972, days begin on a quarter hour of UTC in every time zone. */
export const METRICS_QUARTER = 900_000;

/** The default range of metrics, including today. */
export const DEFAULT_METRICS_DAYS = 30;

/** A line every second for nearly three hours. */
export const MAX_TRANSCRIPT_LINES = 10_000;

export const MAX_TRANSCRIPT_LINE_LENGTH = 10_000;

/** Corrections of one text. People make a few. */
export const MAX_TEXT_VERSIONS = 25;

/** The total size of the texts replaced by corrections, in UTF-8: the list of versions reads this much at once. */
export const MAX_TEXT_VERSIONS_SIZE = 4 * KIB * KIB;

/** In bytes. A longer body counts as several requests, because it takes as much time. */
export const BODY_OF_ONE_REQUEST = 128 * KIB;

/** In characters. A longer transcript counts as several requests, because it takes as much time. */
export const ANSWER_OF_ONE_REQUEST = 256 * KIB;

/** In characters of JSON. A page of versions ends after the one that exceeds this: each can be as long as the transcript. */
export const TRANSCRIPT_VERSIONS_PAGE = KIB * KIB;

export const MAX_CORRECTION_REASON_LENGTH = 500;

/** For SOAP notes and for summaries of transcripts. */
export const MAX_NOTE_LENGTH = 200_000;

/** The summary and lines of a transcript as JSON: as much as one report can hold, and a bound of every row and response. */
export const MAX_TRANSCRIPT_SIZE = PLATFORM_BODY_LIMIT;

/** More than any call has. The report goes to D1 in one parameter. */
export const MAX_CALL_PARTICIPANTS = 500;

/** More people than ever wait in one room. Their list is a single response. */
export const MAX_LISTED_WAITING = 500;

/** A conference of doctors. The response has a link for each. */
export const MAX_VISIT_PARTICIPANTS = 20;

/** A visit shows its first calls, up to this many: rejoining after a lost connection may start another call. */
export const MAX_VISIT_CALLS = 100;

/** An organization's planned visits that have not started yet: a year of a large clinic. */
export const MAX_PLANNED_VISITS = 100_000;

/** For the way a person agreed: `verbal`, `form`. */
export const MAX_CONSENT_METHOD_LENGTH = 50;

/** Per participant: nobody decides this often. A report's decisions are compared in one parameter; their list has no pages. */
export const MAX_CONSENT_DECISIONS = 100;

/** The longest key of an S3 object, in bytes of UTF-8. */
export const MAX_STORAGE_KEY_LENGTH = 1024;

/** A year, in seconds. A longer recording is a mistake in the unit. */
export const MAX_RECORDING_DURATION = 31_622_400;

/** A recording backend describes a failure in a line or two. */
export const MAX_ERROR_LENGTH = 2000;

/** A sentence or two: a court order, a case number. */
export const MAX_HOLD_REASON_LENGTH = 1000;

/** For an issuer, an audience, and the URL of the keys. */
export const MAX_ISSUER_LENGTH = 1000;

/** For tokens of identity providers. Even a very long token is refused for its content, not for its length. */
export const MAX_TOKEN_LENGTH = TOKEN_EXCHANGE_BODY_LIMIT;

/** For the service's own codes and tokens, which are much shorter. A body can hold this many characters of any script. */
export const MAX_OWN_TOKEN_LENGTH = 200_000;

export const AUTHORIZATION_CODE_BYTES = 32;

/** A key for HMAC-SHA-256 must be at least as long as the digest (RFC 7518, section 3.2). */
export const MIN_HMAC_KEY_LENGTH = 32;

/** A key for HMAC-SHA-256, like `MIN_HMAC_KEY_LENGTH`. LiveKit asks for the same length. */
export const MIN_LIVEKIT_SECRET_LENGTH = 32;

/** Mails of an organization per UTC day: two full bulk invites. */
export const MAX_ORGANIZATION_MAILS = 2000;

/** Mails of an organization to one address per UTC day: an invite, resent twice. */
export const MAX_ADDRESS_MAILS = 3;

/** In characters: the organization's name in a mail, including the subject. */
export const MAX_MAIL_NAME_LENGTH = 80;

/** Writes of an organization's API clients per UTC day. */
export const MAX_DAILY_WRITES = 20_000;

/** In bytes of its body: a request counts as one write per started unit. Most bodies are smaller. */
export const WRITE_SIZE = 4 * KIB;

/** Access log entries per UTC day after which an organization's API clients cannot add more. */
export const MAX_DAILY_ACCESS_LOGS = 200_000;

/** Sign-ins of an organization per UTC day, which the other quotas do not refuse. A large hospital has 30,000 members. */
export const MAX_DAILY_SIGN_INS = 200_000;

/** Access log entries per UTC day of holds, lost rights, deletions and reads of the log, which they do not refuse either. */
export const MAX_DAILY_RESERVED = 20_000;

/** The fraction of both daily quotas that one API client may use, so that the others can still work. */
export const CLIENT_FRACTION = 0.5;

/** Entries in a seal. API clients add fewer per day; further entries go into the next seal. The client package repeats this. */
export const MAX_SEALED_ENTRIES = 1_000_000;

/** Rooms that an organization can create, including retired ones. */
export const MAX_WAITING_ROOMS = 20_000;

/** One transaction creates all of them: its longest parameter has 1.4 MB, of the 2 MB that D1 allows. */
export const MAX_BULK_INVITES = 1000;

/** Unused invites of an organization, expired or not. No organization waits for this many people at a time. */
export const MAX_UNUSED_INVITES = 10_000;

/** Rows of bulk invites that an organization can send per `BULK_ROWS_PERIOD`: a whole large organization, twice. */
export const MAX_BULK_ROWS = 20_000;

/** Active API clients of an organization: a few per system, plus a second one of each during a rotation. */
export const MAX_API_CLIENTS = 100;

/** API clients that an organization can create, including revoked ones. A hundred systems can rotate monthly for years. */
export const MAX_API_CLIENTS_EVER = 20_000;

/** A few systems of an organization receive events, each perhaps with a second endpoint during a migration. */
export const MAX_WEBHOOK_ENDPOINTS = 10;

/** More than there are types and families, because a list may repeat them. */
export const MAX_EVENT_TYPE_NAMES = 100;

/** A length that all servers and proxies accept. */
export const MAX_WEBHOOK_URL_LENGTH = 2000;

/** Old secrets that still sign. There are several only after repeated rotations within a day. */
export const MAX_OLD_WEBHOOK_SECRETS = 5;

/** Events that one redelivery request sends again. D1 writes them in a few hundredths of a second. */
export const WEBHOOK_REDELIVERY_PORTION = 1000;

/** Events that one redelivery request searches: the endpoint may subscribe to only a few of them. */
export const EVENTS_LOOKED_THROUGH = 5000;

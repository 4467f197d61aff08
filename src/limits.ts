import { KIB } from "./units.ts";

/* How much callers may send and get, each with its reason. Sizes are in bytes. */

/** Set-up requests have a few short fields. */
export const EXTERNAL_BODY_LIMIT = 64 * KIB;

/** The transcript of an hour takes 52 KB. */
export const PLATFORM_BODY_LIMIT = KIB * KIB;

/** As much as a report: a text can be corrected as a whole. */
export const CORRECTION_BODY_LIMIT = PLATFORM_BODY_LIMIT;

/** Enough for the rows of a large bulk invite. */
export const BULK_INVITES_BODY_LIMIT = KIB * KIB;

/** Tokens can list all groups of a person. And text that is not a JWT should get 401, not 413. */
export const TOKEN_EXCHANGE_BODY_LIMIT = 256 * KIB;

/** An event of LiveKit describes a room, a participant or an egress. Their metadata can be some kilobytes long. */
export const LIVEKIT_BODY_LIMIT = 256 * KIB;

/**
 * Objects and arrays in a JSON body: twice as many as the longest transcript has. An empty one has two characters, and
 * takes some 60 bytes in memory.
 */
export const MAX_JSON_CONTAINERS = 20_000;

/** An error text names this many problems of a body. A list of a thousand rows can have thousands. */
export const MAX_NAMED_FAULTS = 10;

export const DEFAULT_PER_PAGE = 25;

/** Keeps a page a small response and a small read. */
export const MAX_PER_PAGE = 100;

/** Digits of an integer in a path or a query. No value needs so many. */
export const MAX_INTEGER_LENGTH = 1000;

/** Up to this page, offsets are exact integers. */
export const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PER_PAGE);

/** Calls with a reference that a request looks through for those that it may show: more than one patient has. */
export const CALLS_LOOKED_THROUGH = 1000;

/** Items before a page, which are read to skip them. More than any list has by its quota; audit logs and members have none. */
export const MAX_SKIPPED = 100_000;

export const MAX_NAME_LENGTH = 255;

/** RFC 5321: a path has 256 characters, with the address between < and >. */
export const MAX_EMAIL_LENGTH = 254;

export const MAX_KEY_LENGTH = 255;

/** As long as a key: it is the key of another system. */
export const MAX_EXTERNAL_REFERENCE_LENGTH = 255;

/** The slugs of all rooms begin with it. 63 is the length of a DNS label. */
export const MAX_ORGANIZATION_SLUG_LENGTH = 63;

/** LiveKit's have 15 characters. They are stored with calls, participants and egresses. */
export const MAX_LIVEKIT_SID_LENGTH = 64;

/** A room's slug is made from the organization's and its name, and some characters of a name become eight. */
export const MAX_SLUG_LENGTH = 4000;

export const MAX_THEME_LENGTH = 50;

/** Enough for more digits of a second than any clock has. */
export const MAX_TIMESTAMP_LENGTH = 64;

/** There are three roles. A list that repeats some is accepted. */
export const MAX_ROLE_NAMES = 10;

/** Providers whom one user assists. The ids go to D1 in one parameter. */
export const MAX_ASSISTS = 1000;

/** Subs of a room that are not over yet. The list of them has no pages. */
export const MAX_SUBS = 1000;

/**
 * In each period, an isolate still looks up this many unknown ids for an address that is beyond its limit, so that a right
 * client among them is served. D1 does not notice ten a second.
 */
export const LOOK_UPS_BEYOND_LIMIT = 600;

/** In characters. A UUID has 36. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** In characters. It becomes part of each entry of the access log, which is kept for years. */
export const MAX_ACTING_USER_LENGTH = 64;

/** Entries of the access log that a request gets as NDJSON: some megabytes, and as many as it may read. */
export const MAX_EXPORTED_ACCESS_LOGS = 10_000;

/** Random bytes, of which two may name a shard: too many to meet another id. */
export const CLIENT_ID_BYTES = 16;

/** In characters. An id of the service has 22; anything longer is unknown, and is not remembered. */
export const MAX_CLIENT_ID_LENGTH = 64;

/** Too long to guess: 32 characters of hex are 16 random bytes. src/docs/settings.md recommends 32 random bytes. */
export const MIN_PLATFORM_TOKEN_LENGTH = 32;

/** The longest range of metrics, in dates: ten years. A response of so many dates has about 400 KB. */
export const MAX_METRICS_DAYS = 3660;

/** The default range of metrics, including today. */
export const DEFAULT_METRICS_DAYS = 30;

/** A line every second for nearly three hours. */
export const MAX_TRANSCRIPT_LINES = 10_000;

export const MAX_TRANSCRIPT_LINE_LENGTH = 10_000;

/** Corrections of one text: people make some. */
export const MAX_TEXT_VERSIONS = 25;

/** The total size of the texts that corrections replaced, in UTF-8: the list of its versions reads this much at once. */
export const MAX_TEXT_VERSIONS_SIZE = 4 * KIB * KIB;

/** Why a text is corrected. */
export const MAX_CORRECTION_REASON_LENGTH = 500;

/** For summaries of transcripts, and for SOAP notes. */
export const MAX_NOTE_LENGTH = 200_000;

/**
 * Summary and lines of a transcript as JSON: what one report can hold. Partial reports and corrections cannot make it longer,
 * which bounds every response and every row.
 */
export const MAX_TRANSCRIPT_SIZE = PLATFORM_BODY_LIMIT;

/** More than any call has. The report goes to D1 in one parameter. */
export const MAX_CALL_PARTICIPANTS = 500;

/** More than ever wait in a room. The list of them is a single response. */
export const MAX_LISTED_WAITING = 500;

/** A conference of doctors. Each has a link in the response. */
export const MAX_VISIT_PARTICIPANTS = 20;

/** Calls that a visit shows, the first: a connection that breaks off may begin another one. */
export const MAX_VISIT_CALLS = 100;

/** Visits of an organization that are planned and did not start yet: a year of a large clinic. */
export const MAX_PLANNED_VISITS = 100_000;

/** How somebody said that they agree: `verbal`, `form`. */
export const MAX_CONSENT_METHOD_LENGTH = 50;

/**
 * For each participant: nobody decides so often in one visit. The decisions of a report's participants are compared in one
 * parameter, and those of a call are one list without pages.
 */
export const MAX_CONSENT_DECISIONS = 100;

/** The longest key of an object in S3, in bytes of UTF-8. */
export const MAX_STORAGE_KEY_LENGTH = 1024;

/** A recording backend describes a failure in a line or two. */
export const MAX_ERROR_LENGTH = 2000;

/** A sentence or two: an order of a court, a number of a case. */
export const MAX_HOLD_REASON_LENGTH = 1000;

/** For an issuer, an audience, and the URL of the keys. */
export const MAX_ISSUER_LENGTH = 1000;

/** For tokens of identity providers. A wrong one is refused for what it says, even if it is very long. */
export const MAX_TOKEN_LENGTH = TOKEN_EXCHANGE_BODY_LIMIT;

/** For codes and tokens of the service itself, which are much shorter. In any alphabet, so many characters fit into a body. */
export const MAX_OWN_TOKEN_LENGTH = 200_000;

/** Too many random bytes to guess. */
export const AUTHORIZATION_CODE_BYTES = 32;

/** A key for HMAC-SHA-256 must be at least as long as the digest (RFC 7518, section 3.2). */
export const MIN_HMAC_KEY_LENGTH = 32;

/** A key for HMAC-SHA-256, as above. LiveKit asks for as much. */
export const MIN_LIVEKIT_SECRET_LENGTH = 32;

/** Mails of an organization in a UTC day: two full bulk invites. triggers/mails.sql has it too, and so the next one. */
export const MAX_ORGANIZATION_MAILS = 2000;

/** Mails of an organization to one address in a UTC day: an invite, and two that were asked for again. */
export const MAX_ADDRESS_MAILS = 3;

/** In characters: the name of an organization in a mail, in its subject too. */
export const MAX_MAIL_NAME_LENGTH = 80;

/** Writes of an organization's API clients in a UTC day. triggers/usage.sql has it too, and so the entries and the share. */
export const MAX_DAILY_WRITES = 20_000;

/** In bytes of its body: a write counts once for each that it begins. Most have less. */
export const WRITE_SIZE = 4 * KIB;

/** Entries of an organization's access log in a UTC day after which its clients add no more. */
export const MAX_DAILY_ACCESS_LOGS = 200_000;

/** The share of both that one API client may use: then the others can still work. */
export const CLIENT_SHARE = 0.5;

/**
 * Entries in a seal. Clients add fewer in a day; what retention deletes beyond is in the seal of the next day. The client package
 * has this number too.
 */
export const MAX_SEALED_ENTRIES = 1_000_000;

/** Rooms that an organization can make, also those that it has retired. */
export const MAX_WAITING_ROOMS = 20_000;

export const MAX_BULK_INVITES = 1000;

/** Invites of an organization that were not used, expired or not. No organization waits for so many people at a time. */
export const MAX_UNUSED_INVITES = 10_000;

/** Rows of bulk invites that an organization sends in `BULK_ROWS_PERIOD`: all of a large one, twice. */
export const MAX_BULK_ROWS = 20_000;

/** API clients of an organization that are in use: some for each of its systems, and a second one of each while it changes over. */
export const MAX_API_CLIENTS = 100;

/** API clients that an organization can make, also those that it has revoked: one for each of a hundred systems a month, for years. */
export const MAX_API_CLIENTS_EVER = 20_000;

/** A few systems of an organization listen, each perhaps with a second endpoint while it moves. */
export const MAX_WEBHOOK_ENDPOINTS = 10;

/** More than there are. A list that repeats some is accepted. */
export const MAX_EVENT_TYPE_NAMES = 100;

/** What all servers and proxies take. */
export const MAX_WEBHOOK_URL_LENGTH = 2000;

/** Standard Webhooks asks for 24 to 64. */
export const WEBHOOK_SECRET_BYTES = 32;

/** Old secrets that sign at the same time. There are several only if somebody rotates again within a day. */
export const MAX_OLD_WEBHOOK_SECRETS = 5;

/** Events that one request for redelivery sends again. D1 writes them in some hundredths of a second. */
export const WEBHOOK_REDELIVERY_PORTION = 1000;

/** Events among which it looks for those: an endpoint may want few of them. */
export const EVENTS_LOOKED_THROUGH = 5000;

/** Every limit, lifetime and size of the service, each with its reason. Sizes are bytes, times milliseconds. */

const KIB = 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** Set-up requests are a handful of short fields. */
export const EXTERNAL_BODY_LIMIT = 64 * KIB;

/** An hour's transcript is long. */
export const PLATFORM_BODY_LIMIT = 4 * KIB * KIB;

/** A thousand rows of bulk invites. */
export const BULK_INVITES_BODY_LIMIT = KIB * KIB;

/** Tokens that list a person's groups grow long; and what is no token at all is to hear so. */
export const TOKEN_EXCHANGE_BODY_LIMIT = 256 * KIB;

/** Faults of a body that its refusal names; a list of a thousand rows can have thousands. */
export const MAX_NAMED_FAULTS = 10;

export const DEFAULT_PER_PAGE = 25;

/** One page stays a small answer and a bounded read. */
export const MAX_PER_PAGE = 100;

/** Offsets stay exact integers up to this page. */
export const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PER_PAGE);

export const MAX_NAME_LENGTH = 255;

/** RFC 5321 leaves 254 characters for an address within a path of 256. */
export const MAX_EMAIL_LENGTH = 254;

export const MAX_KEY_LENGTH = 255;

/** An organization's slug begins every slug of its rooms; 63 is the length of a DNS label. */
export const MAX_ORGANIZATION_SLUG_LENGTH = 63;

export const MAX_THEME_LENGTH = 50;

/** How long a sub lasts whose end is not given. */
export const DEFAULT_SUB_DURATION = 24 * HOUR;

/** A looked-up client is taken as it is for this long, so that a burst of requests costs one look-up. */
export const CLIENT_FRESH_FOR = 10 * SECOND;

/** A revoked client is refused after this at the latest; until then a look-up runs in the background. */
export const CLIENT_KNOWN_FOR = 60 * SECOND;

/** A background look-up that has not ended after this is taken for lost, and another may start. */
export const CLIENT_REFRESH_TIMEOUT = 5 * SECOND;

/** Bounds the memory that looked-up clients take in an isolate. */
export const MAX_KNOWN_CLIENTS = 10_000;

/** Keeps a token from being empty or a slip of the keyboard; the README recommends 32 random bytes. */
export const MIN_PLATFORM_TOKEN_LENGTH = 8;

/** The longest range of metrics: a leap year. */
export const MAX_METRICS_DAYS = 366;

/** The range of metrics when none is given, today included. */
export const DEFAULT_METRICS_DAYS = 30;

export const MAX_TRANSCRIPT_LINE_LENGTH = 10_000;

/** Summaries of transcripts, and SOAP notes. */
export const MAX_NOTE_LENGTH = 200_000;

/** Lines are written in portions, as JSON of so many characters: D1 takes at most 2 MB in one parameter. */
export const TRANSCRIPT_PORTION = 500_000;

/** More than any call has; their report goes to D1 in one parameter. */
export const MAX_CALL_PARTICIPANTS = 500;

/** How long a recording's download URL is valid, in seconds (contract, section "Limits"). */
export const RECORDING_URL_LIFETIME = 15 * 60;

/** An object's key in S3. */
export const MAX_STORAGE_KEY_LENGTH = 1024;

/** What a recording backend says of a failure is a line or two. */
export const MAX_ERROR_LENGTH = 2000;

/** An issuer, an audience, or the URL of its keys. */
export const MAX_ISSUER_LENGTH = 1000;

/** How far an identity provider's clock may be off. */
export const TOKEN_CLOCK_TOLERANCE = 60 * SECOND;

/** After this the keys of an identity provider are fetched again, so that a withdrawn one is trusted no longer. */
export const KEYS_KNOWN_FOR = 10 * MINUTE;

/** A token with an unknown key makes us fetch the keys again, at most this often, however many such tokens come. */
export const KEYS_COOLDOWN = 30 * SECOND;

/** An identity provider that takes longer is taken for down. */
export const KEYS_TIMEOUT = 5 * SECOND;

/** A key set of some hundred keys is far smaller. */
export const KEYS_BODY_LIMIT = KIB * KIB;

/** A request waits this long for another's fetch of the same keys; then that one may be lost, and it asks itself. */
export const KEYS_WAIT = SECOND;

/** How often a request looks whether another's fetch of the keys is over. */
export const KEYS_POLL = 20;

/** Bounds the memory that identity providers take in an isolate. */
export const MAX_KNOWN_KEY_SETS = 1000;

/** Seconds after which a caller may try again when an identity provider is down. */
export const PROVIDER_RETRY_AFTER = 5;

/** Bytes of an authorization code: not to be guessed. */
export const AUTHORIZATION_CODE_BYTES = 32;

/** A code is redeemed by a redirect that follows at once. */
export const AUTHORIZATION_CODE_LIFETIME = 60 * SECOND;

/** Codes are of no use after their minute; they stay a day to tell what happened. */
export const AUTHORIZATION_CODE_KEPT_FOR = DAY;

export const DEFAULT_INVITE_VALIDITY_DAYS = 7;

export const MAX_INVITE_VALIDITY_DAYS = 30;

/** A key for HMAC-SHA-256 is at least as long as its digest (RFC 7518, section 3.2). */
export const MIN_INVITE_SECRET_LENGTH = 32;

export const MAX_BULK_INVITES = 1000;

/** Rows of one queue message: few messages, and a failing one takes few rows with it. */
export const BULK_INVITE_CHUNK = 50;

/** What Cloudflare Queues takes in one send. */
export const QUEUE_SEND_LIMIT = 100;

/** The consumer tries again after this many seconds, twice as many each time. */
export const QUEUE_RETRY_DELAY = 5;

/** Rows that are pending this long after they were queued were lost on the way. */
export const BULK_INVITE_LOST_AFTER = 10 * MINUTE;

/** Bulk invites that one run of the cron queues again: a send of a few thousand messages. */
export const BULK_INVITES_REQUEUED = 100;

/** A report that meets others on the same rows is decided again; so many have never been seen to meet. */
export const MAX_WRITE_ATTEMPTS = 15;

/** Milliseconds: attempts wait up to this long, and longer each time, so that those who met once do not meet again. */
export const WRITE_BACKOFF = 10;

/** Seconds after which a reporter may try again, when its attempts were used up. */
export const WRITE_RETRY_AFTER = 1;

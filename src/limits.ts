/** Every limit, lifetime and size of the service, each with its reason. Sizes are bytes, times milliseconds. */

const KIB = 1024;
const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** Set-up requests are a handful of short fields. */
export const EXTERNAL_BODY_LIMIT = 64 * KIB;

/** An hour's transcript is long. */
export const PLATFORM_BODY_LIMIT = 4 * KIB * KIB;

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

/** A token that can be guessed is no token; 32 random characters are recommended. */
export const MIN_PLATFORM_TOKEN_LENGTH = 16;

/** The longest range of metrics: a leap year. */
export const MAX_METRICS_DAYS = 366;

/** The range of metrics when none is given, today included. */
export const DEFAULT_METRICS_DAYS = 30;

export const MAX_TRANSCRIPT_LINE_LENGTH = 10_000;

/** Summaries of transcripts, and SOAP notes. */
export const MAX_NOTE_LENGTH = 200_000;

/** Lines are written in portions, as JSON: D1 takes at most 2 MB in one parameter. */
export const TRANSCRIPT_PORTION = 500_000;

/** How long a recording's download URL is valid, in seconds (contract, section "Limits"). */
export const RECORDING_URL_LIFETIME = 15 * 60;

/** An object's key in S3. */
export const MAX_STORAGE_KEY_LENGTH = 1024;

/** What a recording backend says of a failure is a line or two. */
export const MAX_ERROR_LENGTH = 2000;

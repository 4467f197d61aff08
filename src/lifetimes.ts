import { DAY, HOUR, MINUTE, SECOND } from "./units.ts";

/* How long callers wait, and how long things are valid or kept, each with its reason. In milliseconds, where nothing else is said. */

/** The largest body takes less over a slow line. What comes later would find that the caller has lost its rights. */
export const BODY_TIMEOUT = 30 * SECOND;

/** The duration of a sub without an end. */
export const DEFAULT_SUB_DURATION = 24 * HOUR;

/** After this time at the latest, a revoked client is refused. Before that, look-ups run in the background. */
export const CLIENT_KNOWN_FOR = 60 * SECOND;

/** In seconds: the period of the rate limits in wrangler.toml, whose numbers are settings. */
export const RATE_LIMIT_PERIOD = 60;

/** A client that polls a waiting list gets one entry in this period, and not one for each poll. */
export const WAITING_LIST_RECORDED_EVERY = 60 * SECOND;

/** A day is sealed when it is over for so long: requests that began in it have ended. */
export const SEALED_AFTER = HOUR;

/** A seal comes an hour after its day is over, and the next one a day later. When it is over for so long, it should be there. */
export const NEXT_SEAL_WITHIN = 26 * HOUR;

/** Entries stay in D1 for so long after their day was sealed: more than a year, so that a year can be reviewed. The files stay. */
export const ACCESS_LOGS_KEPT_FOR = 400 * DAY;

/** In seconds: for this long others may keep the public keys. A new key is known before its first seal, which comes in a day. */
export const PUBLIC_KEYS_KEPT_FOR = 300;

/** In seconds: the `Retry-After` where the bucket of the sealed days gave no file. */
export const BUCKET_RETRY_AFTER = 5;

/** A client that does not know for a day whether a request was carried out finds out by other means. */
export const IDEMPOTENCY_KEY_KEPT_FOR = DAY;

/** The clock of the platform may be ahead of ours by this much. */
export const REPORT_CLOCK_TOLERANCE = 60 * SECOND;

/** A century: longer than any law has records kept. */
export const MAX_RETENTION_DAYS = 36_500;

/** How long a recording's download URL is valid, in seconds (contract, section "Limits"). */
export const RECORDING_URL_LIFETIME = 15 * 60;

/** In seconds: the `Retry-After` if a file could not be deleted. The cron tries again every five minutes. */
export const FILE_DELETION_RETRY_AFTER = 60;

/** A clock may differ by this much from that of an identity provider when a token begins. Its end is exact. */
export const TOKEN_CLOCK_TOLERANCE = 60 * SECOND;

/** Then the keys of an identity provider are fetched again, so that a withdrawn key is no longer trusted. */
export const KEYS_KNOWN_FOR = 10 * MINUTE;

/** Tokens with unknown keys make the service fetch the keys again, but not more often than this. */
export const KEYS_COOLDOWN = 30 * SECOND;

/** In seconds: the `Retry-After` while an identity provider is down. */
export const PROVIDER_RETRY_AFTER = 5;

/** The redirect with the code follows at once. */
export const AUTHORIZATION_CODE_LIFETIME = 60 * SECOND;

/** An expired code is useless, but helps to find out what happened, for a day. */
export const AUTHORIZATION_CODE_KEPT_FOR = DAY;

export const DEFAULT_INVITE_VALIDITY_DAYS = 7;

export const MAX_INVITE_VALIDITY_DAYS = 30;

/** The clock of LiveKit's server may differ by this much from ours. Its tokens are valid for five minutes. */
export const LIVEKIT_CLOCK_TOLERANCE = 60 * SECOND;

/**
 * The clock of LiveKit may differ by this much from the platform's: a call whose key is the name of a room may have started so much
 * later than the room. triggers/livekit_egresses.sql has it too.
 */
export const LIVEKIT_ROOM_TOLERANCE = 5 * MINUTE;

/** What LiveKit said of an egress waits so long for its call to be reported. */
export const LIVEKIT_EGRESS_KEPT_FOR = DAY;

/** After an invite was created or sent again, it is not sent again for so long: a person needs longer to miss a mail. */
export const INVITE_RESEND_PAUSE = MINUTE;

/** Of a planned visit that does not say when it ends. */
export const DEFAULT_VISIT_DURATION = HOUR;

export const MAX_VISIT_DURATION = DAY;

/** A visit planned further ahead would keep names longer than anybody needs them. */
export const MAX_VISIT_AHEAD = 2 * 365 * DAY;

/** The link of a visit works so long after its end: people come late, or once more. */
export const VISIT_LINK_VALID_FOR = DAY;

export const BULK_ROWS_PERIOD = DAY;

/** In seconds: the `Retry-After` when an organization has sent as many rows as it can. */
export const BULK_ROWS_RETRY_AFTER = 3600;

/** The emails and names in the rows are needed to look up what failed. After this time nobody does. */
export const BULK_INVITE_PERSONAL_DATA_KEPT_FOR = 30 * DAY;

/** A client that was down for longer reads the things themselves again. */
export const EVENTS_KEPT_FOR = 30 * DAY;

/** Enough to give a receiver the new secret. Until then, deliveries are signed with the old one too. */
export const OLD_WEBHOOK_SECRET_LIFETIME = DAY;

/** A receiver that takes longer counts as failed. Standard Webhooks recommends 15 to 30 seconds. */
export const WEBHOOK_TIMEOUT = 15 * SECOND;

/** After each failed attempt, the time until the next. Then a delivery is given up, more than three days after the first. */
export const WEBHOOK_RETRY_DELAYS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A receiver's `Retry-After` that is longer counts as this: it must not put off a delivery for good. */
export const MAX_WEBHOOK_RETRY_AFTER = DAY;

/** An endpoint at which everything fails for so long is disabled. */
export const WEBHOOK_FAILING_FOR = 5 * DAY;

/**
 * A call or a wait of which no report has changed anything for this long counts as over: no visit is so long without
 * anybody coming, leaving or speaking.
 */
export const SILENCE_UNTIL_END = DAY;

/** In seconds: the `Retry-After` when all attempts failed. */
export const WRITE_RETRY_AFTER = 1;

/** In seconds: the `Retry-After` when D1 is overloaded or cannot be reached. */
export const DATABASE_RETRY_AFTER = 5;

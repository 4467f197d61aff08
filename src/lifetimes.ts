import { DAY, HOUR, MINUTE, SECOND } from "./units.ts";

/* How long callers wait, and how long data is valid or kept, each with its reason. In milliseconds unless stated otherwise. */

/** Enough for the largest body on a slow line. A later body might find that the caller has lost its rights. */
export const BODY_TIMEOUT = 30 * SECOND;

/** After this time, a body must have arrived at MIN_BODY_RATE: slow bodies take memory from other requests. */
export const BODY_GRACE = 5 * SECOND;

/** Longer than a body takes: the timers of a busy isolate are late. */
export const BODY_RESERVED_FOR = 2 * BODY_TIMEOUT;

/** In seconds: the `Retry-After` when no memory is left for a body. Most bodies arrive within milliseconds. */
export const BODY_RETRY_AFTER = 2;

export const DEFAULT_SUB_DURATION = 24 * HOUR;

/** A revoked client is refused after this time at the latest. Until then, lookups run in the background. */
export const CLIENT_KNOWN_FOR = 60 * SECOND;

/** In seconds: the period of the rate limits in wrangler.toml. How many requests they allow is a setting. */
export const RATE_LIMIT_PERIOD = 60;

/** A client that polls a waiting list adds one access log entry per period, not one per poll. */
export const WAITING_LIST_RECORDED_EVERY = 60 * SECOND;

/** A sign-in repeated by the same client within this time has no access log entry of its own. */
export const SIGN_IN_RECORDED_EVERY = MINUTE;

/** How long after its end a day is sealed: by then, all requests that began in it have ended. */
export const SEALED_AFTER = HOUR;

/** Verifiers report a missing seal after this long: a day, an hour until it is sealed, and an hour of slack. */
export const NEXT_SEAL_WITHIN = 26 * HOUR;

/** How long entries stay in D1 after sealing. More than a year, so that a whole year can be reviewed. The files stay. */
export const ACCESS_LOGS_KEPT_FOR = 400 * DAY;

/** In seconds: how long others may cache the public keys. A new key signs its first seal only a day later. */
export const PUBLIC_KEYS_KEPT_FOR = 300;

/** In seconds: the `Retry-After` if the bucket of the sealed days did not return the file. */
export const BUCKET_RETRY_AFTER = 5;

/** An export of a person that makes no progress for this long is given up, so that another one may begin. */
export const EXPORT_LEASE = 60 * SECOND;

/** A client still unsure after a day whether a request was carried out finds out by other means. */
export const IDEMPOTENCY_KEY_KEPT_FOR = DAY;

/** The platform's clock may be ahead of the service's by this much. */
export const REPORT_CLOCK_TOLERANCE = 60 * SECOND;

/** A century: longer than any law requires records to be kept. */
export const MAX_RETENTION_DAYS = 36_500;

/** In seconds: how long a recording's download URL is valid (contract, section "Limits"). */
export const RECORDING_URL_LIFETIME = 15 * 60;

/** In seconds: the `Retry-After` if a file could not be deleted. The cron tries again every five minutes. */
export const FILE_DELETION_RETRY_AFTER = 60;

/** How far an identity provider's clock may be ahead when a token begins. The token's end gets no tolerance. */
export const TOKEN_CLOCK_TOLERANCE = 60 * SECOND;

/** An identity provider's keys are fetched again after this time, so that a withdrawn key stops being trusted. */
export const KEYS_KNOWN_FOR = 10 * MINUTE;

/** A token with an unknown key makes the service fetch the keys again, but no more often than this. */
export const KEYS_COOLDOWN = 30 * SECOND;

/** In seconds: the `Retry-After` while an identity provider is down. */
export const PROVIDER_RETRY_AFTER = 5;

/** Short, because the redirect with the code follows the exchange immediately. */
export const AUTHORIZATION_CODE_LIFETIME = 60 * SECOND;

/** An expired code is useless, but for a day it helps to find out what happened. */
export const AUTHORIZATION_CODE_KEPT_FOR = DAY;

export const DEFAULT_INVITE_VALIDITY_DAYS = 7;

export const MAX_INVITE_VALIDITY_DAYS = 30;

/** How far the clock of the LiveKit server may differ from the service's. LiveKit's tokens are valid for five minutes. */
export const LIVEKIT_CLOCK_TOLERANCE = 60 * SECOND;

/** A call whose room LiveKit no longer lists ends only after this long without a report: an event may be under way. */
export const ROOM_SILENCE = 10 * MINUTE;

/** How long LiveKit's events about a room are remembered: more of them may be late. */
export const ROOM_KEPT_FOR = 30 * DAY;

/** How long an egress or a refusal waits for its call. Then the files are deleted: the recording belongs to nobody. */
export const UNCLAIMED_KEPT_FOR = 30 * DAY;

/** The minimum time between two mails of an invite: it takes longer to notice that a mail is missing. */
export const INVITE_RESEND_PAUSE = MINUTE;

export const DEFAULT_VISIT_DURATION = HOUR;

export const MAX_VISIT_DURATION = DAY;

/** A visit planned further ahead would keep names longer than anybody needs them. */
export const MAX_VISIT_AHEAD = 2 * 365 * DAY;

/** How long a visit's link works after the visit ends: people come late, or come back. */
export const VISIT_LINK_VALID_FOR = DAY;

export const BULK_ROWS_PERIOD = DAY;

/** In seconds: the `Retry-After` when an organization has used up its rows of bulk invites. */
export const BULK_ROWS_RETRY_AFTER = 3600;

/** How long the rows keep emails and names, which are needed to look up what failed. */
export const BULK_INVITE_PERSONAL_DATA_KEPT_FOR = 30 * DAY;

/** A client that was down for longer must read the resources themselves again. */
export const EVENTS_KEPT_FOR = 30 * DAY;

/** How long deliveries are also signed with the old secret: enough time to give the receiver the new one. */
export const OLD_WEBHOOK_SECRET_LIFETIME = DAY;

/** A delivery that takes longer counts as failed. Standard Webhooks recommends 15 to 30 seconds. */
export const WEBHOOK_TIMEOUT = 15 * SECOND;

/** The delay after each failed attempt. A delivery is given up more than three days after its first attempt. */
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

/** Caps a receiver's `Retry-After`, so that it cannot postpone a delivery indefinitely. */
export const MAX_WEBHOOK_RETRY_AFTER = DAY;

/** An endpoint is disabled when all its deliveries have failed for this long. */
export const WEBHOOK_FAILING_FOR = 5 * DAY;

/** A call or a wait without a report for this long counts as over: in a visit, somebody joins, leaves or speaks. */
export const SILENCE_UNTIL_END = DAY;

/** How long an ended call waits for its first result. Transcripts and recordings arrive within minutes. */
export const RESULTS_AWAITED_FOR = 10 * MINUTE;

/** How long a draft or a running recording holds back the event that the results are ready: it may never be finished. */
export const UNFINISHED_RESULTS_AWAITED_FOR = HOUR;

/** In seconds: the `Retry-After` when all attempts to write failed. */
export const WRITE_RETRY_AFTER = 1;

/** In seconds: the `Retry-After` when D1 is overloaded or cannot be reached. */
export const DATABASE_RETRY_AFTER = 5;

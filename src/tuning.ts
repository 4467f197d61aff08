import { MAX_EXPORTED_ACCESS_LOGS } from "./limits.ts";
import { DAY, HOUR, KIB, MINUTE, SECOND } from "./units.ts";

/* For an isolate, its queues and the cron. Callers see no change. Sizes are in bytes, times in milliseconds. */

/** How long a client is not looked up again, so that a burst of requests costs one lookup. */
export const CLIENT_FRESH_FOR = 10 * SECOND;

/** A background lookup that takes longer counts as lost, and another one may start. */
export const CLIENT_REFRESH_TIMEOUT = 5 * SECOND;

/** How long an unknown or revoked client is refused without a lookup, so that guessing does not load D1. */
export const CLIENT_REFUSED_FOR = 5 * SECOND;

/** Bounds each of an isolate's caches: known clients, refused clients, addresses beyond their limit, and places. */
export const MAX_REMEMBERED = 10_000;

/** Bodies of an isolate's unanswered requests. Cloudflare ends an isolate, and all its requests, at 128 MB. */
export const MAX_BODIES_SIZE = 32 * KIB * KIB;

/** A request with a small body takes memory too. */
export const MIN_BODY_RESERVATION = 16 * KIB;

/** In characters. Small enough that other requests get their turn in between, and a slow caller uses little memory. */
export const CHUNK_LENGTH = 32 * KIB;

/** Access log entries read at once for a streamed list. */
export const EXPORTED_PAGE = 1000;

/** Access log entries that a request with filters searches. Their index is read again, to find where the next one continues. */
export const ACCESS_LOGS_LOOKED_THROUGH = MAX_EXPORTED_ACCESS_LOGS / 2;

/** Access log entries that an export of a person searches in two queries. A log of eight million takes 800 of a request's 1,000. */
export const PERSON_ENTRIES_LOOKED_THROUGH = 20_000;

/** Calls of a person without their texts, or planned visits, that an export reads at once. */
export const EXPORTED_ROWS = 100;

/** Entries read at once for sealing: 1 MB of D1's response, or 16 MB if each names 500 participants, of the isolate's 128 MB. */
export const SEALED_PAGE = 4000;

/** Organizations for which a cron run seals a day. 20 runs seal 1,000, before the third hour of the day. */
export const DAYS_SEALED = 50;

/** After this many entries, a run starts no other day. It reads at most 2.5 million, in 625 of an invocation's 1,000 queries. */
export const ENTRIES_SEALED = 500_000;

/** After this time, a run does not start another day. The next run begins five minutes after this one and continues. */
export const SEALING_TIME_LIMIT = 4 * MINUTE;

/** Recordings that one run of the cron deletes. 20 of them take up to six of the run's 1,000 queries. */
export const RECORDINGS_DELETED = 500;

/** Recordings deleted together. A legal hold placed meanwhile may be too late for them. */
export const RECORDING_DELETION_PORTION = 100;

/** After this time, a run of the cron starts no more file deletions. The next run starts after five minutes. */
export const FILE_DELETIONS_TIME_LIMIT = MINUTE;

/** A storage that takes longer counts as down. */
export const FILE_DELETION_TIMEOUT = 10 * SECOND;

/** A Worker can have six open connections. */
export const FILE_DELETIONS_AT_ONCE = 6;

/** Transcripts and SOAP notes in one portion of a deletion by the cron. Transcripts are long. */
export const TEXTS_DELETED = 500;

/** An identity provider that takes longer counts as down. */
export const KEYS_TIMEOUT = 5 * SECOND;

/** A set of a hundred RSA keys is smaller. */
export const KEYS_BODY_LIMIT = 128 * KIB;

/** Keys in the set of an identity provider. Few providers have more than ten. */
export const MAX_KEYS = 200;

/** A token that does not name its key is verified against this many keys that fit it. Each verification costs CPU time. */
export const MAX_KEYS_TRIED = 10;

/** How long a request waits for another one that is fetching the same keys. Then it fetches them itself. */
export const KEYS_WAIT = SECOND;

/** Bounds the memory that an isolate uses for the keys of identity providers. */
export const MAX_KNOWN_KEY_SETS = 1000;

/** LiveKit lists one file for each output of an egress. A longer list is malformed, and is ignored. */
export const MAX_EGRESS_FILES = 1000;

/** After temporary errors of the mail provider, whose limits apply per minute or per day. */
export const MAIL_RETRIES = { first: 5 * MINUTE, longest: 6 * HOUR, jitter: 0.1 };

/** How long a leased mail is left to the consumer that leased it. A live provider has answered by then. */
export const MAIL_LEASE = 5 * MINUTE;

/** A mail that the provider has not answered within this time may or may not have been sent. */
export const MAIL_TIMEOUT = 20 * SECOND;

/** How many leases of a mail may end without a known outcome. After that, the mail may have been sent twice, and is given up. */
export const MAX_MAIL_LEASES = 2;

/** Mails in one invocation. Only one runs at a time, so the mails of other databases wait for it. */
export const MAIL_PORTION = 20;

/** Mails sent at the same time. A Worker can have six open connections, and D1 and the queue need some. */
export const MAILS_AT_ONCE = 4;

/** The most messages that Cloudflare Queues accepts in one send. */
export const QUEUE_SEND_LIMIT = 100;

/** The clocks of two machines differ by less. Work due this soon counts as due. */
export const DUE_TOLERANCE = SECOND;

/** In seconds: the pause before the first retry, doubled with every retry. Cloudflare Queues allows up to 12 hours. */
export const QUEUE_RETRIES = { first: 5, longest: 3600, jitter: 0.5 };

/** The part of a receiver's response that is read, so that the receiver can finish sending. It is discarded. */
export const WEBHOOK_RESPONSE_LIMIT = 4 * KIB;

/** Up to this fraction of the delay is added at random, so that deliveries that failed together are not retried together. */
export const WEBHOOK_RETRY_JITTER = 0.1;

/** Endpoints found by one search for due deliveries. Each needs a message. */
export const WEBHOOK_DUE_PORTION = 1000;

/** Deliveries that a lane takes at once. */
export const WEBHOOK_LANE_PORTION = 50;

/** With the timeout of its last request, a lane ends within the 30 seconds that Cloudflare allows for background work. */
export const WEBHOOK_LANE_TIME = 10 * SECOND;

/** How long an endpoint is left to its lane. A live lane has ended by then. */
export const WEBHOOK_LEASE = 40 * SECOND;

/** A lane writes its results in portions of this size. If it dies, at most one portion is sent again. */
export const WEBHOOK_RESULTS_PORTION = 10;

/** After this many failures in a row, a lane stops sending to the endpoint for a while. */
export const WEBHOOK_FAILURES_IN_A_ROW = 10;

/** Deliveries to a failing endpoint pause for as long as it has been failing, within these limits. */
export const MIN_WEBHOOK_PAUSE = 5 * SECOND;
export const MAX_WEBHOOK_PAUSE = MINUTE;

/** A delivery due within this time gets a delayed queue message. Later ones are left to the cron, which is less punctual. */
export const WEBHOOK_NUDGE_AHEAD = 15 * MINUTE;

/** An isolate sends a queue at most one message per interval to say that work may be due. */
export const NUDGE_INTERVAL = SECOND;

/** Lanes in one invocation, which can have six open connections, including those to D1 and the queue. */
export const WEBHOOK_LANES_AT_ONCE = 4;

/**
 * Rows that one statement changes at most: D1 runs one query at a time, so a longer statement would delay requests. One
 * organization can still have half a million rows a day changed.
 */
export const CRON_PORTION = 2000;

/** Each organization gets 1/CRON_SHARES of a portion per statement. */
export const CRON_SHARES = 20;

/** Statements of a chore in one run: D1 allows a run 1,000 queries. In so many, 1,000 organizations get full shares. */
export const CRON_STATEMENTS = 50;

/** A later cron message is dropped. Less than SEALED_AFTER, so that the run's entries are in the seal of their day. */
export const CHORES_DELAY = 15 * MINUTE;

/** A nightly backup that is older was not made, or not shipped. */
export const BACKUP_LATE_AFTER = 36 * HOUR;

/** After this time, a chore starts no more statements. The next run continues. */
export const CRON_TIME_LIMIT = MINUTE;

/**
 * Rows of one organization for another service before others get their turn: several share a portion, and use all connections.
 */
export const OUTWARD_SHARE = 20;

/** Calls in one portion that the cron ends. Their present participants fit into one parameter of D1. */
export const CALLS_ENDED = 100;

/** After this long without a report on a running egress, the cron asks LiveKit whether one was lost. */
export const EGRESS_SILENCE = 10 * MINUTE;

/** The pause until LiveKit is asked again: a little shorter than the cron's interval, so that the next run asks. */
export const EGRESS_CHECK_PAUSE = 4 * MINUTE;

/** After this long without a report, each pause is as long as the silence so far. For an unknown egress, from the start. */
export const EGRESS_LONG_SILENCE = DAY;

/** Egresses that one run of the cron asks about. Each takes a request, and up to two of the run's 1,000 queries. */
export const EGRESSES_CHECKED = 100;

/** Concurrent requests to LiveKit. A Worker can have six open connections. */
export const LIVEKIT_CONNECTIONS = 4;

/** A LiveKit server that takes longer counts as down. */
export const LIVEKIT_TIMEOUT = 5 * SECOND;

/** After this time, a run of the cron asks about no more egresses. The next run continues. */
export const LIVEKIT_TIME_LIMIT = MINUTE;

/** A response describes one egress, in a few KiB. */
export const LIVEKIT_ANSWER_LIMIT = KIB * KIB;

/** A token for LiveKit's API outlives the run that it is made for, but not by much. */
export const LIVEKIT_TOKEN_LIFETIME = 2 * MINUTE;

/** A write that conflicts with others on the same rows is decided again. More attempts were never needed. */
export const MAX_WRITE_ATTEMPTS = 15;

/** The assumed minimum duration of an attempt, in the random waits between attempts. */
export const MIN_WRITE_ATTEMPT = 10;

/** The longest wait, in attempts. Within it, thirty reports on one record all get their turn. */
export const MAX_WRITE_BACKOFF = 16;

/** No attempt starts after this time: a reporter that waits longer has given up. */
export const WRITE_TIME_LIMIT = 10 * SECOND;

/** An isolate checks its databases for `GET /health` at most this often, because anybody can send that request. */
export const HEALTH_KNOWN_FOR = 5 * SECOND;

/** Moving or deleting an organization takes minutes: after this time, the command was interrupted, and an operator must look. */
export const FROZEN_AT_MOST = HOUR;

/** With several databases, one that takes longer to report its health or its part of a combined list counts as down. */
export const DATABASE_TIMEOUT = 5 * SECOND;

/** How long an isolate caches the directory's answer about where an organization lives. */
export const PLACE_KNOWN_FOR = MINUTE;

/** Connections per participant: the first one and the newest. A dropped one can only change when the person joined. */
export const REMEMBERED_CONNECTIONS = 10;
